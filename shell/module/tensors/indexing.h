// t[key] and t[key] = value of tensors, variables and symbols.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// tensor, key -> what is there: a number where that is a single element, unless a gradient or a
/// program follows it.
int index_tensor(lua_State* L);
/// tensor or variable, key, value. A variable is assigned a new value: tensors that were read from
/// it stay as they are.
int assign_elements(lua_State* L);

/// Adds what is read and written by keys that are no names.
void add_tensor_positions(Type& type);
void add_symbol_positions(Type& type);

}  // namespace crescent::lua
