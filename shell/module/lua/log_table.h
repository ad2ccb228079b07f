// Tables of logs by name, in which reading a misspelt name is an error; a name that resembles none
// gives nil, so that a script may ask whether there is a log.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Marks the table on top of the stack as a table of logs.
void mark_log_table(lua_State* L);
bool is_log_table(lua_State* L, int index);
/// Raises an error in Lua if the name is a misspelt key of the table; both are indices of the stack
/// from its bottom.
void check_log_name(lua_State* L, int table_index, int name_index);

}  // namespace crescent::lua
