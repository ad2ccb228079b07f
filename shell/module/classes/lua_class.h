// Classes defined in Lua: cr.Layer:subclass("Linear"). A class is a table; its instances are C++
// objects (LuaLayer, ...) that call the table's functions. Every class is in the registry like
// those of plugins, so files and nested configurations find it.
#pragma once
#include <lua.hpp>

#include "lua/class_table.h"

namespace crescent::lua {

/// Pushes the table of a base: "Layer", "Model", "Loss", ...
void push_base_class(lua_State* L, const char* name);

/// The class has this name from here on, in files and for those who look it up: "acme>Linear". The
/// name that it had still finds it.
void register_class_as(lua_State* L, int table, const std::string& name);

}  // namespace crescent::lua
