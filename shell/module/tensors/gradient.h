// Gradients and compiled functions in Lua.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_gradient_types(ObjectTypes& types, const Type& object);
/// GradientTape, compiled, gradient
const std::vector<CallablePtr>& gradient_functions();

}  // namespace crescent::lua
