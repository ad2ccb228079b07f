// The namespaces cr.layers, cr.optimizers, ...: a table per kind, whose fields are looked up in the
// registry, so all registered classes appear.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// The kind of classes whose method `stream` gives a dataset; cr.data has them.
constexpr const char* kDatasetKind = "dataset";

const Type& class_type();
/// Pushes the table of functions that make Lua bases for C++ classes, by class name.
void push_derivable(lua_State* L);
/// Adds all namespaces to the table on top of the stack.
void set_namespaces(lua_State* L);
/// The kind of a namespace table; null for other tables.
const char* kind_of_namespace(lua_State* L, int index);

}  // namespace crescent::lua
