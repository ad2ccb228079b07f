#include "host/replay.h"

#include <charconv>

#include "command_table.h"
#include "commands.h"
#include "crescent/program/distribution.h"
#include "file_commands.h"

namespace crescent::program {
namespace {

constexpr const char* kStep = "--step";

struct ReplayArguments {
  std::string folder;
  int64_t step = 0;
  std::vector<std::string> script;
};

int64_t step_number(const std::string& text) {
  int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc() || end != text.data() + text.size() || step < 1)
    fail_usage("replay", concat("expected the number of a step, from 1, got '", text, "'"));
  return step;
}

/// Parses the arguments: first the folder and --step N in either order, then the arguments of the
/// script.
ReplayArguments parse_replay(const std::vector<std::string>& arguments) {
  ReplayArguments result;
  auto it = arguments.begin();
  for (; it != arguments.end() && (result.folder.empty() || result.step == 0); ++it) {
    if (*it == kStep && it + 1 != arguments.end())
      result.step = step_number(*++it);
    else if (it->starts_with("--") && *it != kStep)
      fail_usage("replay", concat("no option '", *it, "'",
                                  did_you_mean(*it, std::vector<std::string>{kStep})));
    else if (*it != kStep && result.folder.empty())
      result.folder = *it;
    else
      break;
  }
  if (result.folder.empty() || result.step == 0)
    fail_usage("replay", "expected the folder of a record and --step with a number");
  result.script.assign(it, arguments.end());
  return result;
}

}  // namespace

int replay(const std::vector<std::string>& arguments) {
  const ReplayArguments command_line = parse_replay(arguments);
  if (processes_launched() > 1)
    throw UsageError("replay computes a step in one process: start it without mpirun and srun");
  const auto [status, text] =
      replay_step(command_line.folder, command_line.step, command_line.script);
  if (status == ReplayStatus::failed)
    print("crescent: " + text + "\n", stderr);
  else
    print(text + "\n");
  return static_cast<int>(status);
}

}  // namespace crescent::program
