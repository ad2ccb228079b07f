// The functions of keras.random that are not members of SeedGenerator.
#pragma once
#include "crescent/ops/random.h"

namespace crescent::ops {

/// Integers in [minval, maxval); fails if that range is empty or has integers that the dtype or
/// float64 cannot represent.
CRESCENT_API Tensor randint(const Shape& shape, int64_t minval, int64_t maxval,
                            DType dtype = DType::int32,
                            const SeedGenerator& generator = global_random());
/// The integers 0, ..., n - 1 in random order, as int64.
CRESCENT_API Tensor permutation(int64_t n, const SeedGenerator& generator = global_random());
/// x with its slices along an axis in random order.
CRESCENT_API Tensor shuffle(const Tensor& x, int axis = 0,
                            const SeedGenerator& generator = global_random());

}  // namespace crescent::ops
