// Kernels of patches: images cut into them, and added up from them.
#pragma once
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registry.h"

namespace crescent::operations {

void add_patch_kernels(Registry& registry);

}  // namespace crescent::operations
