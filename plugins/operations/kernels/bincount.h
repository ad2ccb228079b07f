// The kernel of how many numbers are in each bin.
#pragma once
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registry.h"

namespace crescent::operations {

void add_bincount_kernel(Registry& registry);

}  // namespace crescent::operations
