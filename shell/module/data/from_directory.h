// The functions cr.utils.*_dataset_from_directory.
#pragma once
#include <vector>

#include "values/callable.h"

namespace crescent::lua {

std::vector<CallablePtr> dataset_utilities();

}  // namespace crescent::lua
