// The kernel of functions of two numbers that no formula of others gives: bits and divisors of
// whole numbers, the neighbour of a fraction.
#pragma once
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registry.h"

namespace crescent::operations {

void add_pairs_kernel(Registry& registry);

}  // namespace crescent::operations
