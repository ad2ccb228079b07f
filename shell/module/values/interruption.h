// Handling of Ctrl-C, SIGTERM and SIGHUP while a model trains or a file is read: the run stops
// after the current batch.
#pragma once
#include "crescent/model/model.h"

namespace crescent::lua {

/// During the lifetime of the outermost Interruptible, a first signal requests the run to stop, and
/// a second one is passed to the previous handler. At the end the first signal is passed to it too,
/// which ends a script, unless the run called answer(). Two seconds after the second signal the
/// process is killed if it still runs, unless the signal is Ctrl-C at the prompt. Ignored signals
/// stay ignored.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  /// Declares that the stopped run has returned a result, so the first Ctrl-C of a command needs no
  /// further action.
  void answer();

 private:
  InterruptScope scope_;
  bool outermost_;
};

/// During its lifetime, Interruptibles of this thread leave signals to the thread of the script.
class SignalsElsewhere {
 public:
  SignalsElsewhere();
  ~SignalsElsewhere();
  SignalsElsewhere(const SignalsElsewhere&) = delete;
};

/// Ends the process in two seconds with status 128 + the number of the signal, unless that is
/// cancelled. It is async-signal-safe.
void end_soon(int signal);
void take_back_end();

/// Declares that the prompt begins a command, which may continue after an answered Ctrl-C; a script
/// would end.
void begin_command();

}  // namespace crescent::lua
