// Handling of Ctrl-C, SIGTERM and SIGHUP while a model trains or a file is read: the run stops
// after the current batch.
#pragma once
#include "crescent/model/model.h"

namespace crescent::lua {

/// While the outermost Interruptible exists, a first signal requests the run to stop, and a second
/// one goes to the handler that was set before. When the Interruptible is destroyed, the first
/// signal goes to this handler too, which ends a script, unless the run called
/// mark_result_returned(). If the process still runs two seconds after the second signal it is
/// killed, unless the signal is Ctrl-C at the prompt. Ignored signals stay ignored.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  /// Declares that the run that Ctrl-C stopped has returned its result: this Ctrl-C does not stop
  /// the rest of the prompt's command, too.
  void mark_result_returned();

 private:
  InterruptScope scope_;
  bool is_outermost_;
};

/// While an object of this class exists, Interruptibles on this thread do not handle signals; the
/// thread of the script handles them.
class NoSignalHandling {
 public:
  NoSignalHandling();
  ~NoSignalHandling();
  NoSignalHandling(const NoSignalHandling&) = delete;
};

/// Ends the process in two seconds with status 128 + the number of the signal, unless
/// cancel_end() is called before. It is async-signal-safe.
void end_soon(int signal);
void cancel_end();

/// Declares that the prompt begins a command. During a command one call of
/// Interruptible::mark_result_returned() may discard a Ctrl-C, so that the prompt continues. In a
/// script, which never calls begin_command(), mark_result_returned() has no effect.
void begin_command();

}  // namespace crescent::lua
