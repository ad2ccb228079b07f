// Class tables, which subclass() makes, for code that does not depend on the C++ classes behind
// them.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

#include "lua/handle.h"

namespace crescent::lua {

/// Whether the value is a class table made by subclass(), or the table of a base such as cr.Layer.
bool is_class(lua_State* L, int index);
/// The registered class of a class table; null for base tables and other values.
ClassPtr class_of_table(lua_State* L, int index);
/// The key under which the class table of a user's class holds the parent class.
const void* super_key();
/// The names of the functions that the class and its parents define, without those of the base.
std::vector<std::string> defined_functions(lua_State* L, int class_index);

/// Marks the metatable on top of the stack as the metatable of class tables.
void mark_class(lua_State* L);
/// Stores the registered class in the class table.
void set_class_of_table(lua_State* L, int table, const ClassPtr& info);

}  // namespace crescent::lua
