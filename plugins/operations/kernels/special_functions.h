// The kernel of functions of one number that no formula of others gives.
#pragma once
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registry.h"

namespace crescent::operations {

void add_special_kernel(Registry& registry);

}  // namespace crescent::operations
