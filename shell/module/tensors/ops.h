// cr.ops, and operations as methods and operators of tensors, variables and symbols.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

/// Sets `ops` of the table on top of the stack.
void set_ops(lua_State* L);
/// The functions whose first argument is a tensor: what tensors, variables and symbols derive from.
const Type& operation_methods();
/// An operator that calls `direct`, or with a symbol among its operands the operation.
CallablePtr operator_for(const char* operation, CallablePtr direct);
/// Operators and positions of symbols: each makes a layer of the graph.
void add_symbol_operators(Type& type);

}  // namespace crescent::lua
