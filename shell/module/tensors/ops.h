// cr.ops, and operations as methods and operators of tensors, variables and symbols.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// Sets `ops` of the table on top of the stack.
void set_ops(lua_State* L);
/// The functions whose first argument is a tensor, as methods that tensors, variables and symbols
/// inherit.
const Type& operation_methods();
/// An operator that calls `direct`, or the operation if an operand is a symbol.
CallablePtr operator_for(const char* operation, CallablePtr direct);
/// Operators and positions of symbols: each makes a layer of the graph.
void add_symbol_operators(Type& type);

}  // namespace crescent::lua
