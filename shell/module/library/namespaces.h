// The namespaces cr.layers, cr.optimizers, ...: one table per kind of class. Their fields are
// looked up in the registry, so that all registered classes are found.
#pragma once
#include "classes/handle_type.h"

namespace crescent::lua {

/// The kind of classes whose method `stream` returns a dataset; they are in cr.data.
constexpr const char* kDatasetKind = "dataset";

const HandleType& class_type();
/// Pushes the table {name of a C++ class = function that makes the base class for Lua classes
/// derived from the C++ class}.
void push_base_makers(lua_State* L);
/// Adds all namespaces to the table on top of the stack.
void set_namespaces(lua_State* L);
/// The kind of the classes in a namespace: "loss" for the table cr.losses; null for other tables.
const char* kind_of_namespace(lua_State* L, int index);

}  // namespace crescent::lua
