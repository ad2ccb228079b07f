// Tables that are classes of Lua, made by subclass(), as everything below the classes sees them.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

#include "lua/handle.h"

namespace crescent::lua {

/// A table made by subclass(), or a base such as cr.Layer.
bool is_class(lua_State* L, int index);
/// The registration of a class table; null for bases and other values.
ClassPtr class_of_table(lua_State* L, int index);
/// Key of a class table's parent class (user classes only).
const void* super_key();
/// Names of the functions that the class and its parents (not the base) define.
std::vector<std::string> defined_functions(lua_State* L, int class_index);

/// Marks the metatable on top of the stack as that of class tables.
void mark_class(lua_State* L);
/// Stores the registration in the class table.
void set_class_of_table(lua_State* L, int table, const ClassPtr& info);

}  // namespace crescent::lua
