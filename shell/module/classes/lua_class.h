// Classes that Lua defines: cr.Layer:subclass("Linear"). A class is a table; its instances are C++
// objects (LuaLayer, ...) that call the functions of the table. Classes are registered like those
// of plugins, so files and nested configurations can name them.
#pragma once
#include <lua.hpp>

#include "lua/class_table.h"

namespace crescent::lua {

/// Pushes the class table of a base by its name: "Layer", "Model", "Loss", ...
void push_base_class(lua_State* L, const char* name);

/// Registers the class under a new name such as "acme>Linear", which files then use. The old name
/// remains an alias.
void register_class_as(lua_State* L, int table_index, const std::string& name);

}  // namespace crescent::lua
