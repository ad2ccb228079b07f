// A Lua state for the time in which the program runs something in it.
#pragma once
#include <functional>
#include <lua.hpp>

namespace crescent::program {

/// Runs `body` in a new state with all libraries, then stops runs in the background. Returns the
/// exit status: the result of the body, or 128 + the signal that stopped it; 1, after a report, if
/// the body raises an error.
int run_in_lua(const std::function<int(lua_State*)>& body);

}  // namespace crescent::program
