// cr.ops, and the same operations as methods and operators of tensors, variables and symbols.
#pragma once
#include "classes/handle_type.h"

namespace crescent::lua {

/// Sets the field `ops` of the table on top of the stack.
void set_ops(lua_State* L);
/// The methods that tensors, variables and symbols inherit: all operations whose first argument is
/// a tensor.
const HandleType& operation_methods();
/// The method with this name in operation_methods(); null if there is none.
const Callable* find_operation_method(const std::string& name);
/// An operator that calls `direct_function` or, if an operand is a symbol, the operation with the
/// name `operation`.
CallablePtr operator_for(const char* operation, CallablePtr direct_function);
/// Adds operators and indexing to the type of symbols. Applying one of them adds a layer to the
/// graph.
void add_symbol_operators(HandleType& type);

}  // namespace crescent::lua
