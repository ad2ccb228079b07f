// The graph of layers as Lua sees it: symbols, nodes and input specs.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

const Type& symbol_type();
const Type& node_type();
const Type& input_spec_type();
/// The functions cr.Input and cr.InputSpec.
const std::vector<CallablePtr>& graph_functions();
/// The input specs at `index`: one spec, a table of specs, or none if the value is nil.
std::vector<InputSpec> to_input_specs(lua_State* L, int index);

}  // namespace crescent::lua
