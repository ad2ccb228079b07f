// Lists that C++ returns to Lua: reading position 0 or a negative position is an error, and ==
// compares them item by item, so that x.shape == y.shape is as in Python.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Marks the table on top of the stack as a list returned by C++.
void mark_list(lua_State* L);
bool is_marked_list(lua_State* L, int index);

}  // namespace crescent::lua
