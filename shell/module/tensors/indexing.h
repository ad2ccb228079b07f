// Reading t[key] and assigning t[key] = value for tensors, variables and symbols.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// Implements tensor[key]. If the key selects a single element, returns a number, unless the tensor
/// takes part in a gradient or a program that is being recorded.
int index_tensor(lua_State* L);
/// Assigns a value to the elements tensor[key] or variable[key]. A variable gets a new tensor, so
/// that tensors read from it before do not change.
int assign_elements(lua_State* L);

/// Add reading and assignment by keys that are not names (t[key]) to a type.
void add_tensor_positions(Type& type);
void add_symbol_positions(Type& type);

}  // namespace crescent::lua
