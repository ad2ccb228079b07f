#include "training/replay/run_description.h"

#include <filesystem>
#include <fstream>

namespace crescent {
namespace {

namespace fs = std::filesystem;

/// The arguments of this process, without the name of the program.
List arguments_of_program() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  List arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.emplace_back(argument);
  if (!arguments.empty()) arguments.erase(arguments.begin());
  return arguments;
}

void add_flattened(Dict& flat_dict, const std::string& prefix, const Dict& nested_dict) {
  for (const DictEntry& entry : nested_dict)
    if (entry.value.is_dict())
      add_flattened(flat_dict, prefix + entry.key + ".", entry.value.as_dict());
    else
      flat_dict.set(prefix + entry.key, entry.value);
}

std::string current_folder() {
  std::error_code ignored_error;
  return fs::current_path(ignored_error).string();
}

}  // namespace

std::string program_path() {
  std::error_code ignored_error;
  return fs::read_symlink("/proc/self/exe", ignored_error).string();
}

Dict conditions() {
  Dict result{{"version", CRESCENT_VERSION}, {"device", device().class_name()}};
  add_flattened(result, "", device().information());
  result.erase("threads");  // the number of threads does not change the bits
  return result;
}

Dict run_description(const TrainingRun::State& run, int64_t run_number, int64_t record_freq) {
  return {{"program", program_path()},
          {"arguments", arguments_of_program()},
          {"folder", current_folder()},
          {"number", run_number},
          {"record_freq", record_freq},
          {"processes", run.group.shares_batches() ? run.group.communicator()->size() : 1},
          {"deterministic", is_deterministic()},
          {"conditions", conditions()}};
}

}  // namespace crescent
