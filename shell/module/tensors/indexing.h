// Reading t[key] and assigning t[key] = value for tensors, variables and symbols.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// Reads tensor[key]. If the key selects a single element the result is a number, unless a gradient
/// or a program is being recorded from the tensor.
int index_tensor(lua_State* L);
/// Assigns a value to the elements tensor[key] or variable[key]. A variable gets a new tensor, so
/// that tensors read from it before do not change.
int assign_elements(lua_State* L);

/// Add reading and assignment by keys that are not names to a type.
void add_tensor_positions(Type& type);
void add_symbol_positions(Type& type);

}  // namespace crescent::lua
