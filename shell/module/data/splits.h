// The functions cr.data.split and cr.data.folds, which split the rows of tensors.
#pragma once
#include <vector>

#include "values/callable.h"

namespace crescent::lua {

std::vector<CallablePtr> split_functions();

}  // namespace crescent::lua
