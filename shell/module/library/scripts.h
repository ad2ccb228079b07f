// The part of the module that is written in Lua, and what it is given beside the module's table:
// functions with declared options, as those of C++ are.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Runs shell/lua/libraries.lua and what it loads at once, for the module's table on top of the
/// stack.
void run_scripts(lua_State* L);

}  // namespace crescent::lua
