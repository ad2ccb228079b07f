// Classes defined in Lua: cr.Layer:subclass("Linear"). A class is a table; its instances are C++
// objects (LuaLayer, ...) that call the table's functions. Every class is in the registry like
// those of plugins, so files and nested configurations find it.
#pragma once
#include <lua.hpp>

#include "handle.h"

namespace crescent::lua {

/// A table made by subclass(), or a base such as cr.Layer.
bool is_class(lua_State* L, int index);
/// The registration of a class table; null for bases and other values.
ClassPtr class_of_table(lua_State* L, int index);
/// Pushes the table of a base: "Layer", "Model", "Loss", ...
void push_base_class(lua_State* L, const char* name);
/// A Lua function as an object of a kind: a loss, a metric, an activation, an initializer, ...
ObjectPtr function_as(std::string_view kind, const Ref& function, const std::string& name);
/// Functions inside of a value as objects of the kind; lists and dicts are searched.
Value adapted(const Value& value, std::string_view kind);
/// Options by position and name for a schema, functions adapted to what each option wants.
void adapt_options(Dict& options, const SchemaData& schema);
/// Makes `name` a known activation, loss, metric, ...: what files refer to by name.
void register_function(const std::string& name, const Ref& function);

}  // namespace crescent::lua
