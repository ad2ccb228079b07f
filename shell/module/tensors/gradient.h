// Gradients and compiled functions in Lua.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_gradient_types(ObjectTypes& types, const Type& object);
/// The functions GradientTape, compiled and gradient.
const std::vector<CallablePtr>& gradient_functions();

}  // namespace crescent::lua
