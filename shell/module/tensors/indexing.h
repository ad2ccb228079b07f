// Reading t[key] for tensors, variables and symbols, and assigning t[key] = value for tensors and
// variables.
#pragma once
#include "classes/handle_type.h"
#include "tensors/selectors.h"

namespace crescent::lua {

/// Implements tensor[key]. If the key selects a single element, returns a number, unless the tensor
/// takes part in a gradient or a program that is being recorded.
int index_tensor(lua_State* L);
/// Assigns a value to the elements tensor[key] or variable[key]. A variable gets a new tensor, so
/// that tensors read from it before do not change.
int assign_elements(lua_State* L);

/// The elements that the selectors select, as a new tensor that operations compute.
Tensor read_elements(const Tensor& tensor, const Selectors& selectors);

/// Add reading by keys that are not names (t[key]) to a type; for tensors also assignment.
void add_tensor_indexing(HandleType& type);
void add_symbol_indexing(HandleType& type);

}  // namespace crescent::lua
