// The handling of Ctrl-C, SIGTERM and SIGHUP while the program runs Lua code.
#pragma once
#include <csignal>
#include <lua.hpp>

namespace crescent::program {

/// While an object of this class lives, a signal raises an error in Lua code at its next
/// instruction, and in C++ at the next check of the interruption. Code that catches the error can
/// continue after a first Ctrl-C; a second one, SIGTERM and SIGHUP raise it again and again until
/// the outermost call has ended. If that takes more than two seconds after the second signal, the
/// program is ended; at the prompt only a third Ctrl-C does that, at once. Without Lua code (null)
/// signals are only recorded, and a wait for input ends. Ignored signals stay ignored.
class StopSignals {
 public:
  explicit StopSignals(lua_State* L);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;

 private:
  lua_State* L_;
  struct sigaction before_[3];
};

/// From now on Ctrl-C interrupts a command of the prompt and not the program.
void begin_prompt();

/// Waits until the file is readable; returns false if a signal arrives or has arrived.
bool await_input(int file);

/// The last signal since the latest StopSignals began, or SIGTERM or SIGHUP if one has ever
/// arrived; 0 if none has.
int stop_signal();
/// True once the program has been told to end.
bool told_to_end();

}  // namespace crescent::program
