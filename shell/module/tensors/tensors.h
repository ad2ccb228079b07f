// The types of tensors and variables, and functions that make tensors.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

const Type& tensor_type();
const Type& variable_type();
/// The functions of `cr` itself: tensor, zeros, ones, ...
const std::vector<CallablePtr>& tensor_functions();

}  // namespace crescent::lua
