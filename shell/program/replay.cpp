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

int64_t number_of(const std::string& text) {
  int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc() || end != text.data() + text.size() || step < 1)
    fail_usage("replay", concat("expected the number of a step, from 1, got '", text, "'"));
  return step;
}

/// Parses the arguments: first the folder and --step N in either order, then the arguments of the
/// script.
ReplayArguments parse_replay(const std::vector<std::string>& arguments) {
  ReplayArguments given;
  auto at = arguments.begin();
  for (; at != arguments.end() && (given.folder.empty() || given.step == 0); ++at) {
    if (*at == kStep && at + 1 != arguments.end())
      given.step = number_of(*++at);
    else if (at->starts_with("--") && *at != kStep)
      fail_usage("replay", concat("no option '", *at, "'",
                                  did_you_mean(*at, std::vector<std::string>{kStep})));
    else if (*at != kStep && given.folder.empty())
      given.folder = *at;
    else
      break;
  }
  if (given.folder.empty() || given.step == 0)
    fail_usage("replay", "expected the folder of a record and --step with a number");
  given.script.assign(at, arguments.end());
  return given;
}

}  // namespace

int replay(const std::vector<std::string>& arguments) {
  const ReplayArguments given = parse_replay(arguments);
  if (processes_launched() > 1)
    throw UsageError("replay computes a step in one process: start it without mpirun and srun");
  const auto [status, text] = replay_step(given.folder, given.step, given.script);
  if (status == ReplayStatus::failed)
    print("crescent: " + text + "\n", stderr);
  else
    print(text + "\n");
  return static_cast<int>(status);
}

}  // namespace crescent::program
