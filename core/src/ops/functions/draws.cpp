// Random integers and permutations.
#include "crescent/ops/draws.h"

namespace crescent::ops {

Tensor randint(const Shape& shape, int64_t minval, int64_t maxval, DType dtype,
               const SeedGenerator& generator) {
  if (!is_integer(dtype)) fail("randint: expected a dtype of integers, got ", dtype);
  if (maxval <= minval)
    fail("randint: expected maxval above minval, got ", minval, " and ", maxval);
  const Tensor draws = generator.uniform(shape, static_cast<double>(minval),
                                         static_cast<double>(maxval), DType::float64);
  return cast(minimum(floor(draws), maxval - 1), dtype);
}

Tensor shuffle(const Tensor& x, int axis, const SeedGenerator& generator) {
  const int64_t count = x.dim(axis);
  return gather(x, Tensor::from(generator.permutation(count), {count}), axis);
}

}  // namespace crescent::ops
