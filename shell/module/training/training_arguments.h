// Reads data and options from the arguments of fit, evaluate and others, which may be given by
// position or by name.
#pragma once
#include "crescent/model/model.h"
#include "lua/state.h"

namespace crescent::lua {

/// The stack index of the first option, after at most `max_array_count` positional arrays; missing
/// arrays are added as nil.
int first_option(lua_State* L, const Model& model, int max_array_count);

}  // namespace crescent::lua
