// The types of tensors and variables, and functions that make tensors.
#pragma once
#include "classes/handle_type.h"

namespace crescent::lua {

const HandleType& tensor_type();
const HandleType& variable_type();
/// The functions of `cr` itself: tensor, zeros, ones, ...
const std::vector<CallablePtr>& tensor_functions();

}  // namespace crescent::lua
