// What code that runs while a library is loaded may not change for the rest of the process.
#pragma once
#include <cfenv>
#include <csignal>
#include <string>
#include <vector>

namespace crescent {

/// Restores in its destructor what it found: floating-point modes (rounding, denormals), handlers
/// of signals but those of core, the signals that are blocked, and the locale.
class KeptState {
 public:
  KeptState();
  ~KeptState();
  KeptState(const KeptState&) = delete;

 private:
  std::fenv_t floating_;
  std::vector<struct sigaction> handlers_;  ///< by the number of the signal
  sigset_t blocked_;
  std::string locale_;
};

}  // namespace crescent
