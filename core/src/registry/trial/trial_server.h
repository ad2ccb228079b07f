// Trials of many libraries: one process of crescent-try forks itself for each library, which takes
// a fraction of the time that starting a program for each library would take.
#pragma once
#include <string>
#include <vector>

#include "registry/trial/plugin_trial.h"

namespace crescent {

/// The option of crescent-try that makes it call serve_trials().
constexpr const char* kTryEach = "--each";

/// Tries each library in a process of its own, several at a time. Returns the outcomes in the order
/// of the libraries.
std::vector<TrialOutcome> try_each(const std::vector<std::string>& libraries);

/// Tries the libraries in forks of this process, which has loaded no plugin, and writes the
/// outcomes to kTrialDescriptor. Returns an exit status.
CRESCENT_API int serve_trials(const std::vector<std::string>& libraries);

}  // namespace crescent
