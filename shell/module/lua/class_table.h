// Functions for class tables, which subclass() makes. They do not depend on the C++ classes of the
// objects.
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
/// Replaces the key on top of the stack by the value that the class at `index` or its nearest
/// parent defines under this key; returns false and pushes nil if none does. The base class
/// (cr.Layer, ...) is not searched.
bool push_member(lua_State* L, int index);
/// Defines the value on top of the stack under the key below it in the class at `index`, and pops
/// both. Drops compiled programs if they may have called a function that this replaces or hides.
void set_member(lua_State* L, int index);
/// Records that an object of the class at `index` exists, so that compiled programs may call
/// functions of the class.
void mark_instantiated(lua_State* L, int index);
/// The names of the functions that the class and its parents define, without those of the base.
std::vector<std::string> defined_functions(lua_State* L, int class_index);

/// Marks the metatable on top of the stack as the metatable of class tables.
void mark_class(lua_State* L);
/// Gives the class table a separate table of its members, and pushes that table. A member that is
/// missing in it is looked up in the parent at `parent_index`. The class table itself has no fields
/// of the user, so that its metamethod __newindex sees every definition.
void add_members(lua_State* L, int table_index, int parent_index);
/// The key under which the class table holds the table of its members.
const void* members_key();
/// Stores the registered class in the class table.
void set_class_of_table(lua_State* L, int table_index, const ClassPtr& info);

}  // namespace crescent::lua
