// Gradients in Lua.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_gradient_types(ObjectTypes& types, const HandleType& object);
/// The functions cr.GradientTape and cr.compiled.
const std::vector<CallablePtr>& gradient_functions();

}  // namespace crescent::lua
