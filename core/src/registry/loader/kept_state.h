// State of the process that is restored after a library was loaded, in case code of the library
// changed it.
#pragma once
#include <cfenv>
#include <csignal>
#include <string>
#include <vector>

namespace crescent {

/// Saves the state and restores it in the destructor: floating-point modes (rounding, denormals),
/// signal handlers except those of core, blocked signals, and the locale.
class SavedProcessState {
 public:
  SavedProcessState();
  ~SavedProcessState();
  SavedProcessState(const SavedProcessState&) = delete;

 private:
  std::fenv_t floating_point_modes_;
  std::vector<struct sigaction> handlers_;  ///< indexed by signal number
  sigset_t blocked_signals_;
  std::string locale_;
};

}  // namespace crescent
