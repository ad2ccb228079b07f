// cr.layers, cr.optimizers, ...: a table a kind whose fields are looked up in the registry, so what
// is registered appears by itself.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

const Type& class_type();
/// Pushes the table of what makes the bases that stand for classes of C++, by their names.
void push_derivable(lua_State* L);
/// Sets every namespace in the table on top of the stack.
void set_namespaces(lua_State* L);
/// The kind of a namespace table; null for other tables.
const char* kind_of_namespace(lua_State* L, int index);

}  // namespace crescent::lua
