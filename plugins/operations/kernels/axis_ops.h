// Kernels of ops along an axis or two, in a single pass.
#pragma once
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registry.h"

namespace crescent::operations {

void add_axis_kernels(Registry& registry);

}  // namespace crescent::operations
