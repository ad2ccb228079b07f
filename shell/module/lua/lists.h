// Lists that C++ returns to Lua: == compares them item by item, so that x.shape == y.shape is as in
// Python.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Marks the table on top of the stack as a list of objects or sizes, which users read by positions
/// that they know: position 0 or a negative position is an error.
void mark_list(lua_State* L);
/// Marks the table on top of the stack as a list of values, with which scripts compute: what is at
/// no position is nil, as in other tables.
void mark_values(lua_State* L);
/// Whether the value is a list with one of these marks.
bool is_marked_list(lua_State* L, int index);

}  // namespace crescent::lua
