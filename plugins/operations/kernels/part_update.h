// The kernel of arrays with a part of them exchanged.
#pragma once
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registry.h"

namespace crescent::operations {

void add_part_update_kernel(Registry& registry);

}  // namespace crescent::operations
