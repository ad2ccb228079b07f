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
/// The name of the table in cr that has the classes of a kind; null if there is none.
const char* namespace_of_kind(const KindInfo& kind_info);
/// The sorted names of the classes in the namespace of a kind; a few of them are of another kind.
std::vector<std::string> class_names_in(const KindInfo& kind_info);
/// The class of this name in the namespace of a kind; fails if there is none.
ClassPtr class_in(const KindInfo& kind_info, const std::string& name);
/// The path of a class in the module, "cr.layers.Dense"; "" for a class of a kind that has no
/// table.
std::string path_of_class(const ClassInfo& info);
/// The kind of the classes in a namespace: "loss" for the table cr.losses; null for other tables.
const char* kind_of_namespace(lua_State* L, int index);

}  // namespace crescent::lua
