// The types of tensors and variables, and functions that make tensors.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

const Type& tensor_type();
const Type& variable_type();
/// tensor, zeros, ones, ...: functions of `cr` itself.
const std::vector<CallablePtr>& tensor_functions();

}  // namespace crescent::lua
