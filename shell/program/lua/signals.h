// The handling of Ctrl-C, SIGTERM and SIGHUP while the program runs Lua code.
#pragma once
#include <csignal>
#include <lua.hpp>

#include "crescent/system/interrupt.h"

namespace crescent::program {

/// While an object of this class exists, a signal raises an error in Lua code at its next
/// instruction, and in C++ code at the next check for interruption. Code that catches the error can
/// continue after a first Ctrl-C. A second Ctrl-C, SIGTERM and SIGHUP raise the error again and
/// again until the outermost call has ended. If that takes more than two seconds after the second
/// signal, the program is ended; at the prompt only a third Ctrl-C ends it, at once. If the Lua
/// state is null, signals are only recorded. Ignored signals stay ignored. Objects may be nested:
/// the outermost object installs the signal handlers, with these flags of sigaction(), and the
/// innermost one says which Lua state is interrupted.
class StopSignalHandling {
 public:
  explicit StopSignalHandling(lua_State* L, int flags = SA_RESTART);
  ~StopSignalHandling();
  StopSignalHandling(const StopSignalHandling&) = delete;

 private:
  StopSignalHandling* enclosing_handling_;
  lua_State* L_;
  Interruption* interruption_;
};

/// Makes signals stop the coroutine, which `caller` resumes, exactly if they stop `caller`.
void pass_signals(lua_State* caller, lua_State* coroutine);
/// If a signal stopped the coroutine, makes its caller count as stopped, in its place.
void pass_stop(lua_State* coroutine, lua_State* caller);
/// Whether a signal has raised an error in this Lua thread, or in a coroutine that it called last.
bool is_stopped(lua_State* L);

/// Declares that from now on Ctrl-C interrupts the command of the prompt instead of the program.
void begin_prompt();

/// The last signal since the latest StopSignalHandling was made, or SIGTERM or SIGHUP if one of
/// these has ever arrived; 0 if none has.
int stop_signal();
/// True once SIGTERM or SIGHUP has arrived.
bool has_final_signal();

}  // namespace crescent::program
