// Random integers and permutations.
#include "crescent/ops/draws.h"

#include "crescent/ops/sorting.h"
#include "crescent/program/program.h"

namespace crescent::ops {

namespace {

/// Integers are drawn as float64 numbers and cast to the dtype. Fails unless both can represent all
/// integers from `min_draw` to `max_draw`.
void expect_exact_draws(int64_t min_draw, int64_t max_draw, DType dtype) {
  const int bits =
      std::min(static_cast<int>(8 * size_of(dtype)) - (dtype == DType::uint8 ? 0 : 1), 53);
  const int64_t exact_end = int64_t{1} << bits,
                exact_begin = dtype == DType::uint8 ? 0 : -exact_end;
  if (min_draw >= exact_begin && max_draw < exact_end) return;
  fail("randint: expected minval and maxval - 1 between ", exact_begin, " and ", exact_end - 1,
       " for dtype ", dtype, ", got ", min_draw, " and ", max_draw,
       dtype == DType::int64 ? "" : "; int64 holds larger integers");
}

}  // namespace

Tensor randint(const Shape& shape, int64_t minval, int64_t maxval, DType dtype,
               const SeedGenerator& generator) {
  if (!is_integer(dtype)) fail("randint: expected a dtype of integers, got ", dtype);
  if (maxval <= minval)
    fail("randint: expected maxval above minval, got ", minval, " and ", maxval);
  expect_exact_draws(minval, maxval - 1, dtype);
  const Tensor draws = generator.uniform(shape, static_cast<double>(minval),
                                         static_cast<double>(maxval), DType::float64);
  return cast(minimum(floor(draws), maxval - 1), dtype);
}

/// In a trace, the permutation is the order of random numbers that the recorded program draws, so
/// that every run of the program gives another permutation.
Tensor permutation(int64_t n, const SeedGenerator& generator) {
  if (!is_tracing()) return Tensor::from(generator.permutation(n), {n});
  return cast(argsort(generator.uniform({n}, 0, 1, DType::float64)), DType::int64);
}

Tensor shuffle(const Tensor& x, int axis, const SeedGenerator& generator) {
  const int64_t count = x.dim(axis);
  return gather(x, permutation(count, generator), axis);
}

}  // namespace crescent::ops
