#include "training/replay/record.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace crescent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBackupPrefix = "step-", kBackupEnding = ".h5";
constexpr int64_t kWriterLock = 1;  // the lock of the journal that the writing process holds

std::string journal_path(const std::string& folder) {
  return (fs::path(folder) / "steps.journal").string();
}

/// The step of a backup with this file name; -1 for other files.
int64_t step_of_backup(std::string_view name) {
  if (!name.starts_with(kBackupPrefix) || !name.ends_with(kBackupEnding)) return -1;
  name.remove_prefix(kBackupPrefix.size());
  name.remove_suffix(std::min(name.size(), kBackupEnding.size()));
  int64_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? step : -1;
}

void remove_backup(const std::string& folder, int64_t step) {
  std::error_code ignored_error;
  fs::remove(backup_path(folder, step), ignored_error);
}

Journal open_for_writing(const std::string& folder) {
  Journal journal(journal_path(folder));
  if (!journal.try_hold(kWriterLock))
    fail("another run is being recorded in '", folder, "'; each run needs a folder of its own");
  return journal;
}

/// Opens the journal of a record for new steps and removes all recorded steps after step
/// `after_step`; 0 removes the whole record.
Journal prepare_journal(const std::string& folder, int64_t after_step) {
  create_folder(folder);
  Journal journal = open_for_writing(folder);
  for (const int64_t step : backups_in(folder))
    if (after_step == 0 || step > after_step) remove_backup(folder, step);
  if (after_step == 0) {
    std::error_code ignored_error;
    fs::remove(journal_path(folder), ignored_error);
    return open_for_writing(folder);
  }
  const Journal::Lock lock(journal);
  journal.read([](const Value&) {});
  return journal;
}

List encode_specs(const VariableSpecs& variables) {
  List list;
  for (const auto& [name, spec] : variables) list.push_back(List{name, spec});
  return list;
}

std::shared_ptr<const VariableSpecs> decode_specs(const Value& list) {
  VariableSpecs variables;
  for (const Value& pair : list.as_list())
    variables.push_back({pair.as_list().at(0).as_string(), pair.as_list().at(1).as_string()});
  return std::make_shared<const VariableSpecs>(std::move(variables));
}

/// Reads steps of a record from the lines of its journal.
class RecordReader {
 public:
  RecordReader(int64_t first_step, int64_t last_step)
      : first_step_(first_step), last_step_(last_step) {}
  void visit(const Value& value) {
    const Dict& line = value.as_dict();
    if (const Value* run_info = line.find("run"))
      begin_run(run_info->as_dict(), line.at("after").as_int());
    if (const Value* variables = line.find("variables")) variables_ = decode_specs(*variables);
    if (const Value* step = line.find("step")) add_step(step->as_int(), line);
  }
  Record finish() {
    if (record_.steps.empty()) record_.run_info = run_info_;
    return std::move(record_);
  }

 private:
  void begin_run(const Dict& run_info, int64_t after_step) {
    run_info_ = run_info;
    record_.last_step = std::min(record_.last_step, after_step);
    std::erase_if(record_.steps, [&](const RecordedStep& s) { return s.step > after_step; });
  }
  void add_step(int64_t step, const Dict& line) {
    const std::string& hash_text = line.at("hashes").as_string();
    if (!variables_ || hash_text.size() != variables_->size() * kHashDigits)
      fail("the record has no hash for each tensor of step ", step);
    if (record_.first_step == 0) record_.first_step = step;
    record_.last_step = step;
    if (step < first_step_ || step > last_step_) return;
    record_.run_info = run_info_;
    record_.steps.push_back({step, line.at("epoch").as_int(), line.at("batch").as_int(),
                             line.at("data").as_dict(), variables_, hash_text,
                             line.at("logs").as_dict()});
  }

  int64_t first_step_, last_step_;
  Record record_;
  Dict run_info_;
  std::shared_ptr<const VariableSpecs> variables_;
};

}  // namespace

std::string backup_path(const std::string& folder, int64_t step) {
  return (fs::path(folder) / concat(kBackupPrefix, step, kBackupEnding)).string();
}

std::vector<int64_t> backups_in(const std::string& folder) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (const int64_t step = step_of_backup(entry.path().filename().string()); step >= 0)
      steps.push_back(step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

RecordWriter::RecordWriter(std::string folder, const Dict& run_info, int64_t after_step)
    : folder_(std::move(folder)), journal_(prepare_journal(folder_, after_step)), lock_(journal_) {
  journal_.append(Dict{{"run", run_info}, {"after", after_step}});
}

void RecordWriter::add(const RecordedStep& step) {
  if (step.variables != variables_)
    journal_.append(Dict{{"variables", encode_specs(*step.variables)}});
  variables_ = step.variables;
  journal_.append(Dict{{"step", step.step},
                       {"epoch", step.epoch},
                       {"batch", step.batch},
                       {"data", step.data},
                       {"logs", step.logs},
                       {"hashes", step.hashes}});
}

void RecordWriter::back_up(const TrainingRun& run, int64_t step,
                           std::optional<int64_t> max_backups) {
  run.save(backup_path(folder_, step));
  if (!max_backups) return;
  std::vector<int64_t> steps = backups_in(folder_);
  steps.resize(std::max<size_t>(steps.size(), static_cast<size_t>(*max_backups)) -
               static_cast<size_t>(*max_backups));
  for (const int64_t oldest : steps) remove_backup(folder_, oldest);
}

Record read_record(const std::string& folder, int64_t first_step, int64_t last_step) {
  const std::string path = journal_path(folder);
  std::error_code ignored_error;
  if (!fs::exists(path, ignored_error))
    fail("'", folder, "' is no record of a training run: it has no file ",
         fs::path(path).filename().string());
  RecordReader reader(first_step, last_step);
  Journal::visit_file(path, [&](const Value& line) { reader.visit(line); });
  return reader.finish();
}

}  // namespace crescent
