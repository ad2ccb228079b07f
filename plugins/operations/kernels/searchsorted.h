// Kernels of places in sorted numbers and of sets.
#pragma once
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registry.h"

namespace crescent::operations {

void add_searchsorted_kernels(Registry& registry);

}  // namespace crescent::operations
