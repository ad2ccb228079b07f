// cr.utils.image_dataset_from_directory and its neighbours.
#pragma once
#include <vector>

#include "values/callable.h"

namespace crescent::lua {

std::vector<CallablePtr> dataset_utilities();

}  // namespace crescent::lua
