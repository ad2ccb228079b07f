// The kernel of distances of rows from each other.
#pragma once
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registry.h"

namespace crescent::operations {

void add_distances_kernel(Registry& registry);

}  // namespace crescent::operations
