// Starts the process that computes a recorded step again. The process runs the program that made
// the record, and reads from an environment variable which step to compute.
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

/// The file descriptor to which the started program writes its verdict.
constexpr int kResultDescriptor = 3;

/// Returns a text that says which steps of a run were recorded; empty if all were recorded.
std::string recorded_steps_text(const Dict& run_info) {
  const int64_t record_freq = run_info.at("record_freq").as_int();
  return record_freq == 1 ? "" : concat(" that can be divided by record_freq = ", record_freq);
}

/// Reads the step from the record. Fails if the record lacks the step, or if no backup precedes the
/// step.
Record checked_record(const std::string& folder, int64_t step) {
  Record record = read_record(folder, step, step);
  if (record.first_step == 0) fail("the record '", folder, "' has no steps");
  if (record.steps.empty())
    fail("step ", step, " was not recorded: '", folder, "' has the steps ", record.first_step,
         " to ", record.last_step, recorded_steps_text(record.run_info));
  const std::vector<int64_t> backups = backups_in(folder);
  if (backups.empty()) fail("step ", step, " cannot be computed: '", folder, "' has no backup");
  if (backups.front() >= step)
    fail("step ", step, " cannot be computed: the first backup in '", folder,
         "' is that after step ", backups.front(), "; the option max_to_keep removes older ones");
  return record;
}

/// The program to run and its arguments. If `script` is not empty, it is this program with the
/// arguments `script`. Otherwise it is the recorded program with its recorded arguments; if it has
/// the same file name as this program, this program is run instead.
std::vector<std::string> command_line(const Dict& run_info,
                                      const std::vector<std::string>& script) {
  const std::string program = program_path();
  std::vector<std::string> command{program};
  if (!script.empty()) {
    command.insert(command.end(), script.begin(), script.end());
    return command;
  }
  const std::string recorded_program = run_info.at("program").as_string();
  if (fs::path(recorded_program).filename() != fs::path(program).filename())
    command.front() = recorded_program;
  for (const Value& argument : run_info.at("arguments").as_list())
    command.push_back(argument.as_string());
  return command;
}

void enter_folder(const Dict& run_info, const std::string& record_folder) {
  const std::string& folder = run_info.at("folder").as_string();
  std::error_code error;
  fs::current_path(folder, error);
  if (error)
    fail("the run was recorded in the folder '", folder, "', which is not here (", error.message(),
         "); say what to run in the current one: crescent replay ", record_folder,
         " --step N SCRIPT ARGUMENTS");
}

void set_determinism(bool on) {
  on ? setenv("CRESCENT_DETERMINISTIC", "1", 1) : unsetenv("CRESCENT_DETERMINISTIC");
}

/// Lists the conditions of this program and machine that differ from those of the recorded run, one
/// per line.
std::string text_of_changed_conditions(const Dict& run_info) {
  std::string text;
  const Dict current_conditions = conditions();
  for (const DictEntry& condition : run_info.at("conditions").as_dict())
    if (const Value* current_value = current_conditions.find(condition.key);
        current_value && *current_value != condition.value)
      text += concat("\n  recorded with ", condition.key, " ", condition.value, ", here ",
                     *current_value);
  if (run_info.at("processes").as_int() > 1 && !run_info.at("deterministic").as_bool())
    text += concat("\n  recorded by ", run_info.at("processes"),
                   " processes without op determinism, whose sums differ in their last digits "
                   "from those of one (cr.config.enable_op_determinism())");
  return text;
}

ReplayVerdict verdict_of(const Descriptor& result_file, const Process& program,
                         const std::vector<std::string>& command, int64_t step) {
  const std::string text = contents_of(result_file);
  if (text.empty())
    return {ReplayStatus::failed,
            concat("'", join(command, " "), "' ", program.ending(), " and did not compute step ",
                   step, " of a fit with this ReplayRecorder")};
  const Value verdict = parse_json(text);
  return {static_cast<ReplayStatus>(verdict.as_dict().at("status").as_int()),
          verdict.as_dict().at("text").as_string()};
}

ReplayVerdict run_replay(const std::string& folder, int64_t step,
                         const std::vector<std::string>& script) {
  const Record record = checked_record(folder, step);
  const std::vector<std::string> command = command_line(record.run_info, script);
  const ReplayTask task{fs::absolute(folder).string(), step, record.run_info.at("number").as_int(),
                        kResultDescriptor};
  if (script.empty()) enter_folder(record.run_info, folder);
  setenv(kReplayVariable, text_of(task).c_str(), 1);
  set_determinism(record.run_info.at("deterministic").as_bool());
  const Descriptor result_file = memory_file("crescent-replay");
  ProcessOptions options;
  options.descriptors = {{ProcessOptions::kNowhere, STDIN_FILENO},
                         {STDERR_FILENO, STDOUT_FILENO},
                         {STDERR_FILENO, STDERR_FILENO},
                         {result_file, kResultDescriptor}};
  Process program = Process::program(command, options);
  program.wait();
  ReplayVerdict verdict = verdict_of(result_file, program, command, step);
  if (verdict.status == ReplayStatus::different)
    verdict.text += text_of_changed_conditions(record.run_info);
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
