// Classes that Lua defines: cr.Layer:subclass("Linear"). A class is a table; its instances are C++
// objects (LuaLayer, ...) that call the functions of the table. Classes are registered like those
// of plugins, so files and nested configurations can name them.
#pragma once
#include <lua.hpp>

#include "lua/class_table.h"

namespace crescent::lua {

/// Pushes the table of a base: "Layer", "Model", "Loss", ...
void push_base_class(lua_State* L, const char* name);

/// Renames the class in the registry and in files: "acme>Linear". The old name remains an alias.
void register_class_as(lua_State* L, int table, const std::string& name);

}  // namespace crescent::lua
