// Random numbers of other distributions, computed from uniform and normal numbers, and random
// permutations.
#pragma once
#include "crescent/ops/random.h"

namespace crescent {

/// Draws the logarithm of a number from Gamma(alpha, 1), for a scalar alpha > 0, by Marsaglia and
/// Tsang (2000): of several candidates the first that passes their test is taken; with a
/// probability of 1e-10 none passes. Logarithms are accurate also for small alpha.
inline Tensor random_log_gamma(const SeedGenerator& random, const Shape& shape,
                               const Tensor& alpha) {
  const DType dtype = alpha.dtype();
  // A number from Gamma(alpha) is drawn as a number from Gamma(alpha + 1) times u^(1 / alpha) for a
  // uniform number u.
  const Tensor d = alpha + 2.0 / 3, c = 1.0 / ops::sqrt(d * 9.0);
  Tensor log_draw = ops::broadcast_to(ops::log(d), shape);
  constexpr int kCandidates = 8;
  for (int i = 0; i < kCandidates; ++i) {
    const Tensor x = random.normal(shape, 0, 1, dtype), root = x * c + 1;
    const Tensor is_positive = ops::greater(root, 0);
    const Tensor v = ops::where(is_positive, root * root * root, 1.0);
    const Tensor u = ops::maximum(random.uniform(shape, 0, 1, dtype), 1e-30);
    const Tensor is_accepted =
        ops::less(ops::log(u), ops::square(x) * 0.5 + d * (1.0 - v + ops::log(v)));
    log_draw = ops::where(ops::logical_and(is_positive, is_accepted), ops::log(d * v), log_draw);
  }
  const Tensor u = ops::maximum(random.uniform(shape, 0, 1, dtype), 1e-30);
  return log_draw + ops::log(u) / alpha;
}

/// Draws from Beta(alpha, alpha).
inline Tensor random_beta(const SeedGenerator& random, const Shape& shape, const Tensor& alpha) {
  const Tensor a = random_log_gamma(random, shape, alpha);
  return ops::sigmoid(a - random_log_gamma(random, shape, alpha));
}

/// A random permutation of 0 to count - 1.
inline Tensor random_order(const SeedGenerator& random, int64_t count) {
  const Tensor keys = random.uniform({count});
  return count == 0 ? ops::cast(keys, DType::int32) : ops::top_k(keys, count)[1];
}

}  // namespace crescent
