// What things are, as tables: for help, completion and the prompt, which are written in Lua.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Sets describe and printable in the module's table on top of the stack.
void set_reflection(lua_State* L);

}  // namespace crescent::lua
