// The graph of layers as Lua sees it: symbols, nodes and input specs.
#pragma once
#include "classes/handle_type.h"

namespace crescent::lua {

const HandleType& symbol_type();
const HandleType& node_type();
const HandleType& input_spec_type();
/// The functions cr.Input and cr.InputSpec.
const std::vector<CallablePtr>& graph_functions();
/// The input specs at `index`: one spec, a table of specs, or none if the value is nil.
std::vector<InputSpec> to_input_specs(lua_State* L, int index);

}  // namespace crescent::lua
