// What keras.random has beside the members of a generator.
#pragma once
#include "crescent/ops/random.h"

namespace crescent::ops {

/// Whole numbers from minval to below maxval; fails where there are none.
CRESCENT_API Tensor randint(const Shape& shape, int64_t minval, int64_t maxval,
                            DType dtype = DType::int32,
                            const SeedGenerator& generator = global_random());
/// The parts of x along an axis in an order by chance.
CRESCENT_API Tensor shuffle(const Tensor& x, int axis = 0,
                            const SeedGenerator& generator = global_random());

}  // namespace crescent::ops
