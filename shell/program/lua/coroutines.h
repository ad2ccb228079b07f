// Coroutines that signals can stop. The program's functions coroutine.resume and coroutine.wrap
// record which coroutines run, because a signal sets a debug hook and each coroutine has its own.
#pragma once
#include <lua.hpp>

namespace crescent::program {

/// A call that runs a coroutine. These calls form a list from the innermost to the outermost one.
struct RunningCoroutine {
  lua_State* thread;
  RunningCoroutine* enclosing_call;
};
/// The innermost call that runs a coroutine on this thread of the process; null if there is none.
RunningCoroutine* volatile& innermost_coroutine();

/// Replaces coroutine.resume and coroutine.wrap by functions that record the running coroutine. If
/// a signal stops a coroutine, they raise its error again in the caller.
void record_coroutines(lua_State* L);

}  // namespace crescent::program
