// Class tables, which subclass() makes, for code that does not depend on the classes.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

#include "lua/handle.h"

namespace crescent::lua {

/// Whether the value is a table made by subclass(), or a base such as cr.Layer.
bool is_class(lua_State* L, int index);
/// The registration of a class table; null for bases and other values.
ClassPtr class_of_table(lua_State* L, int index);
/// The key of the parent class in a class table of a user.
const void* super_key();
/// The names of the functions that the class and its parents, without the base, define.
std::vector<std::string> defined_functions(lua_State* L, int class_index);

/// Marks the metatable on top of the stack as that of class tables.
void mark_class(lua_State* L);
/// Stores the registration in the class table.
void set_class_of_table(lua_State* L, int table, const ClassPtr& info);

}  // namespace crescent::lua
