// A trial loads the library of a plugin in a child process before this process loads it. The plugin
// is refused if the child process crashes, exits or does not end in time.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "crescent/system/process.h"

namespace crescent {

struct TrialOutcome {
  /// A text such as "it crashes while it is loaded: SIGSEGV (Segmentation fault)". Empty if the
  /// process ends normally, even if the setup of the library throws.
  std::string failure;
  std::string report;  ///< the result of load_untried()
};

/// A child process that loads libraries in order. The outcome of the trial is that of the last
/// library. Several trials run in parallel, each for a limited time.
class PluginTrial {
 public:
  /// Starts crescent-try, which loads the libraries.
  static PluginTrial in_program(const std::vector<std::string>& libraries);
  /// Forks this process, which must have loaded no plugin and have one thread.
  static PluginTrial in_fork(const std::string& library);
  TrialOutcome outcome();

 private:
  explicit PluginTrial(const std::function<Process(const ProcessOptions&)>& start_process);
  std::string failure();
  Descriptor stderr_file_, report_file_;
  Process process_;
  std::chrono::steady_clock::time_point deadline_;
};

/// Runs `load` in a copy of this process. Returns the failure, for example "it crashes in this
/// process: SIGSEGV (Segmentation fault)", or empty. Checks of the file find damaged tables
/// (elf_tables.h) but not damaged code. Such code may read memory outside of the library, so it may
/// crash in this process although it does not in another.
std::string failure_in_copy(const std::function<void()>& load);

/// Loads a library in a trial process. Returns JSON: the library's entry for an index of plugins
/// (plugin_index.h), or {"refused": "the reason"}.
CRESCENT_API std::string load_untried(const std::string& library);

/// Loads the libraries in this process, which is a trial process, and writes the result of
/// load_untried() for the last one to kTrialDescriptor. Returns an exit status.
CRESCENT_API int run_trial(const std::vector<std::string>& libraries);

/// Prepares this process for trials, so that its forks need only load a library.
void prepare_for_trials();

/// The path of crescent-try. Fails if the program is missing.
std::string trial_program();

/// The file descriptor to which a trial process writes its report.
constexpr int kTrialDescriptor = 3;

/// Writes the report of a trial process to kTrialDescriptor. Returns an exit status.
int finish_trial(const std::string& report);

/// A new file in memory, for the report and the output of a trial process.
Descriptor trial_file();

}  // namespace crescent
