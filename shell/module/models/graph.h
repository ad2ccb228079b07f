// The layer graph in Lua: symbols, nodes, input specs.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

const Type& symbol_type();
const Type& node_type();
const Type& input_spec_type();
/// Input, InputSpec
const std::vector<CallablePtr>& graph_functions();
/// A specification, a table of them, or nil.
std::vector<InputSpec> to_input_specs(lua_State* L, int index);

}  // namespace crescent::lua
