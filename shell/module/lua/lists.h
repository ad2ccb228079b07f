// Lists that C++ gives to Lua to be looked into: to ask one for position 0 or -1 is an error.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Makes a list of the table on top of the stack.
void mark_list(lua_State* L);
bool is_marked_list(lua_State* L, int index);

}  // namespace crescent::lua
