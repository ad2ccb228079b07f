// A Lua state for as long as the program has something to do in it.
#pragma once
#include <functional>
#include <lua.hpp>

namespace crescent::program {

/// Runs `body` in a new state with all libraries, then ends runs in the background. The exit
/// status: what the body gives, or 128 + the signal where one stopped it. An error that leaves the
/// body is reported, and the status is 1.
int run_in_lua(const std::function<int(lua_State*)>& body);

}  // namespace crescent::program
