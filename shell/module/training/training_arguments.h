// The data and options in the arguments of fit, evaluate and others, given by position or by name.
#pragma once
#include "crescent/model/model.h"
#include "lua/state.h"

namespace crescent::lua {

/// The index of the first option after up to `arrays` arrays; missing arrays become nil.
int first_option(lua_State* L, const Model& model, int arrays);

}  // namespace crescent::lua
