// Runs plugins that are written in Lua. The core recognizes them by the comment in their first
// lines.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Makes plugins written in Lua run in the Lua state that called C++ to load them.
void enable_lua_plugins();
/// On a thread on which no Lua state has called C++, makes plugins written in Lua run in the Lua
/// state that make_state() returns. make_state() is called when the thread first needs a Lua state,
/// which from then on counts as the caller.
void enable_lua_plugins_in_own_state(lua_State* (*make_state)());
/// The Lua state in which plugins that are loaded on this thread run.
lua_State* state_for_lua_plugins();

}  // namespace crescent::lua
