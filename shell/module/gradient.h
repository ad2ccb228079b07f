// Gradients and compiled functions in Lua.
#pragma once
#include "object_types.h"

namespace crescent::lua {

/// GradientTape, compiled, gradient
const std::vector<CallablePtr>& gradient_functions();

}  // namespace crescent::lua
