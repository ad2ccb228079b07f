// t[key] and t[key] = value of tensors, variables and symbols.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// Reads tensor[key]: a number where the key selects a single element, unless a gradient or a
/// program must follow it.
int index_tensor(lua_State* L);
/// Assigns value to the elements tensor[key] or variable[key]. A variable gets a new tensor:
/// tensors that were read from it before do not change.
int assign_elements(lua_State* L);

/// Adds reading and assignment by keys that are not names.
void add_tensor_positions(Type& type);
void add_symbol_positions(Type& type);

}  // namespace crescent::lua
