// Starts the process that computes a recorded step again: it runs the recorded program, which finds
// its task in an environment variable.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "crescent/program/device.h"
#include "crescent/program/distribution.h"
#include "crescent/system/process.h"
#include "host/replay.h"
#include "system/replay_task.h"
#include "training/replay/record.h"
#include "training/replay/run_description.h"

namespace crescent {
namespace {

namespace fs = std::filesystem;

constexpr int kResultDescriptor =
    3;  // the descriptor of the started program that takes the verdict

/// Describes which steps a run has recorded; empty if it recorded all.
std::string recorded_steps_text(const Dict& run) {
  const int64_t freq = run.at("record_freq").as_int();
  return freq == 1 ? "" : concat(" that can be divided by record_freq = ", freq);
}

/// Reads the step from the record. Fails if the record lacks the step, or if no backup precedes the
/// step.
Record checked_record(const std::string& folder, int64_t step) {
  Record record = read_record(folder, step, step);
  if (record.first == 0) fail("the record '", folder, "' has no steps");
  if (record.steps.empty())
    fail("step ", step, " was not recorded: '", folder, "' has the steps ", record.first, " to ",
         record.last, recorded_steps_text(record.run));
  const std::vector<int64_t> backups = backups_in(folder);
  if (backups.empty()) fail("step ", step, " cannot be computed: '", folder, "' has no backup");
  if (backups.front() >= step)
    fail("step ", step, " cannot be computed: the first backup in '", folder,
         "' is that after step ", backups.front(), "; the option max_to_keep removes older ones");
  return record;
}

/// The program and its arguments: this program with the words of `script` or, if `script` is empty,
/// the recorded program and arguments. If the recorded program has the file name of this program,
/// this program replaces it.
std::vector<std::string> command_line(const Dict& run, const std::vector<std::string>& script) {
  const std::string program = program_path();
  std::vector<std::string> words{program};
  if (!script.empty()) {
    words.insert(words.end(), script.begin(), script.end());
    return words;
  }
  const std::string recorded_program = run.at("program").as_string();
  if (fs::path(recorded_program).filename() != fs::path(program).filename())
    words.front() = recorded_program;
  for (const Value& argument : run.at("arguments").as_list()) words.push_back(argument.as_string());
  return words;
}

void enter_folder(const Dict& run, const std::string& record) {
  const std::string& folder = run.at("folder").as_string();
  std::error_code error;
  fs::current_path(folder, error);
  if (error)
    fail("the run was recorded in the folder '", folder, "', which is not here (", error.message(),
         "); say what to run in the current one: crescent replay ", record,
         " --step N SCRIPT ARGUMENTS");
}

void set_determinism(bool on) {
  on ? setenv("CRESCENT_DETERMINISTIC", "1", 1) : unsetenv("CRESCENT_DETERMINISTIC");
}

/// Lists the conditions of this program and machine that differ from those of the recorded run, one
/// per line.
std::string text_of_changed_conditions(const Dict& run) {
  std::string text;
  const Dict own_conditions = conditions();
  for (const DictEntry& condition : run.at("conditions").as_dict())
    if (const Value* current_value = own_conditions.find(condition.key);
        current_value && *current_value != condition.value)
      text += concat("\n  recorded with ", condition.key, " ", condition.value, ", here ",
                     *current_value);
  if (run.at("processes").as_int() > 1 && !run.at("deterministic").as_bool())
    text += concat("\n  recorded by ", run.at("processes"),
                   " processes without op determinism, whose sums differ in their last digits "
                   "from those of one (cr.config.enable_op_determinism())");
  return text;
}

ReplayVerdict verdict_of(const Descriptor& result, const Process& program,
                         const std::vector<std::string>& words, int64_t step) {
  const std::string text = contents_of(result);
  if (text.empty())
    return {ReplayStatus::failed,
            concat("'", join(words, " "), "' ", program.ending(), " and did not compute step ",
                   step, " of a fit with this ReplayRecorder")};
  const Value verdict = parse_json(text);
  return {static_cast<ReplayStatus>(verdict.as_dict().at("status").as_int()),
          verdict.as_dict().at("text").as_string()};
}

ReplayVerdict run_replay(const std::string& folder, int64_t step,
                         const std::vector<std::string>& script) {
  const Record record = checked_record(folder, step);
  const std::vector<std::string> words = command_line(record.run, script);
  const ReplayTask task{fs::absolute(folder).string(), step, record.run.at("number").as_int(),
                        kResultDescriptor};
  if (script.empty()) enter_folder(record.run, folder);
  setenv(kReplayVariable, text_of(task).c_str(), 1);
  set_determinism(record.run.at("deterministic").as_bool());
  const Descriptor result = memory_file("crescent-replay");
  ProcessOptions options;
  options.descriptors = {{ProcessOptions::kNowhere, STDIN_FILENO},
                         {STDERR_FILENO, STDOUT_FILENO},
                         {STDERR_FILENO, STDERR_FILENO},
                         {result, kResultDescriptor}};
  Process program = Process::program(words, options);
  program.wait();
  ReplayVerdict verdict = verdict_of(result, program, words, step);
  if (verdict.status == ReplayStatus::different)
    verdict.text += text_of_changed_conditions(record.run);
  return verdict;
}

}  // namespace

ReplayVerdict replay_step(const std::string& folder, int64_t step,
                          const std::vector<std::string>& script) try {
  return run_replay(folder, step, script);
} catch (const Error& error) {
  return {ReplayStatus::failed, error.what()};
}

}  // namespace crescent
