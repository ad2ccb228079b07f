// Runs a function in a Lua state that exists during the call.
#pragma once
#include <functional>
#include <lua.hpp>

namespace crescent::program {

/// Runs `body` in a new Lua state with all libraries, then stops runs in the background. Returns
/// the exit status: the result of the body, 128 + the signal that stopped it, or 1 after reporting
/// an error of the body.
int run_in_lua(const std::function<int(lua_State*)>& body);

}  // namespace crescent::program
