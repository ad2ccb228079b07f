// What Ctrl-C, SIGTERM and SIGHUP do to Lua code of the program.
#pragma once
#include <csignal>
#include <lua.hpp>

namespace crescent::program {

/// While it lives, a signal raises an error in the Lua code at its next instruction, and in C++ at
/// the next look at the interruption. Code that catches the error can go on after a first Ctrl-C; a
/// second one, SIGTERM and SIGHUP raise it again and again until the outermost call has ended. A
/// call that has not ended two seconds after the second signal is ended with the program; at the
/// prompt Ctrl-C needs a third, which ends it at once. Without Lua code (null) signals are only
/// noted, and what waits for input wakes up. Signals that are ignored stay ignored.
class StopSignals {
 public:
  explicit StopSignals(lua_State* L);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;

 private:
  lua_State* L_;
  struct sigaction before_[3];
};

/// From now on Ctrl-C is of a command of the prompt.
void begin_prompt();

/// Waits until there is something to read; false when a signal came, also one that came before.
bool await_input(int file);

/// The last signal since the latest StopSignals began, or SIGTERM or SIGHUP since ever; 0 when none
/// came.
int stop_signal();
/// True once the program is to end.
bool told_to_end();

}  // namespace crescent::program
