// Runs plugins that are written in Lua, which core finds by their first lines.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Has plugins in Lua run in the state that calls.
void run_lua_plugins();
/// On this thread, where no state calls, they run in the one that this makes, which calls from then
/// on.
void start_for_lua_plugins(lua_State* (*start)());
/// The state in which plugins run that are loaded on this thread.
lua_State* state_for_lua_plugins();

}  // namespace crescent::lua
