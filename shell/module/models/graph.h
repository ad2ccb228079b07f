// The graph of layers in Lua: symbols, nodes, input specs.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

const Type& symbol_type();
const Type& node_type();
const Type& input_spec_type();
/// Input, InputSpec
const std::vector<CallablePtr>& graph_functions();
/// The specs in a spec, a table of specs, or nil.
std::vector<InputSpec> to_input_specs(lua_State* L, int index);

}  // namespace crescent::lua
