// Lists of objects or sizes that C++ returns to Lua: reading position 0 or a negative position is
// an error, and == compares them item by item, so that x.shape == y.shape is as in Python. Other
// lists, such as lists of floating-point numbers, are plain tables.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// The metamethod __index of lists. Positions behind the last item are nil, so that ipairs() ends
/// there.
extern "C" int index_list(lua_State* L);
/// Marks the table on top of the stack as a list of objects or sizes.
void mark_list(lua_State* L);
bool is_marked_list(lua_State* L, int index);

}  // namespace crescent::lua
