// Functions of cr.ops that return transformed functions: custom_gradient, jvp, vectorize.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

const std::vector<CallablePtr>& transform_functions();

}  // namespace crescent::lua
