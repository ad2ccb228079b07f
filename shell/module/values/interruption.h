// Ctrl-C, SIGTERM and SIGHUP while a model trains or a file is read: the run stops after the
// current batch.
#pragma once
#include "crescent/model/model.h"

namespace crescent::lua {

/// While the outermost lives, a first signal asks the run to stop and a second goes to whoever
/// handled signals before. So does the first at the end: a script ends, unless the run answered it.
/// A run that has not ended two seconds after the second signal is ended with its process, unless
/// that is Ctrl-C at the prompt. Signals that are ignored stay ignored.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  /// The run has something to give although it was stopped. That is the answer to the first Ctrl-C
  /// of a command.
  void answer();

 private:
  InterruptScope scope_;
  bool outermost_;
};

/// While it lives, signals are no business of this thread: an Interruptible of it leaves them to
/// the script's own.
class SignalsElsewhere {
 public:
  SignalsElsewhere();
  ~SignalsElsewhere();
  SignalsElsewhere(const SignalsElsewhere&) = delete;
};

/// Async-signal-safe: in two seconds the process ends with 128 + the number of the signal, whatever
/// it does, unless that is taken back before.
void end_soon(int signal);
void take_back_end();

/// The prompt begins a command, which may go on after an answered Ctrl-C. Elsewhere all that a
/// script does ends.
void begin_command();

}  // namespace crescent::lua
