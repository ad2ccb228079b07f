// A Lua state for as long as the program has something to do in it.
#pragma once
#include <functional>
#include <lua.hpp>

namespace crescent::program {

/// Runs `body` in a new state with all libraries, then ends runs in the background. The exit
/// status: 0 where the body gives true, else 128 + the signal that stopped it, or 1. An error that
/// leaves the body is reported.
int run_in_lua(const std::function<bool(lua_State*)>& body);

}  // namespace crescent::program
