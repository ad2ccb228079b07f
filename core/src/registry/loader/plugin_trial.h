// A trial loads a library in a child process to see whether it crashes: a plugin is mapped,
// initialized and set up there first, and refused if it crashes, exits or never ends.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "crescent/system/process.h"

namespace crescent {

struct TrialOutcome {
  /// "it crashes while it is loaded: SIGSEGV (Segmentation fault)"; empty if the process ends
  /// normally, also if the setup of the library throws.
  std::string failure;
  std::string report;  ///< the text of load_untried()
};

/// A child process that loads these libraries in order; its outcome is that of the last one.
/// Several trials run in parallel, each for a limited time.
class Trial {
 public:
  explicit Trial(const std::vector<std::string>& libraries);
  TrialOutcome outcome();

 private:
  std::string failure();
  Descriptor stderr_file_, report_;
  Process process_;
  std::chrono::steady_clock::time_point end_;
};

/// Runs `load` in a copy of this process. Returns the failure, for example "it crashes in this
/// process: SIGSEGV (Segmentation fault)", or empty. Damaged code cannot be found by checks as
/// damaged tables can (elf_tables.h), and it may fail in this process but not in another, because
/// it may read memory beside the library.
std::string failure_in_copy(const std::function<void()>& load);

/// Loads a library in the process of a trial. Returns a text of JSON: its entry for an index of
/// plugins (plugin_index.h), or {"refused": "the reason"}.
CRESCENT_API std::string load_untried(const std::string& library);

/// The file descriptor to which the child process writes, after all libraries are loaded, the
/// report on the last one.
/// last one.
constexpr int kTrialDescriptor = 3;

}  // namespace crescent
