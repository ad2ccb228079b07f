// Ctrl-C while a model trains: the run stops after the current batch, keeping the model.
#pragma once
#include <csignal>

namespace crescent::lua {

/// While alive, SIGINT asks the running fit, evaluate or predict to stop. Afterwards the signal is passed on to whoever
/// handled it before, so that a script ends; at the prompt it is not (see keep_session).
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;

 private:
  struct sigaction before_;
  bool outermost_;
};

/// The prompt goes on after an interrupted run.
void keep_session(bool on);

}  // namespace crescent::lua
