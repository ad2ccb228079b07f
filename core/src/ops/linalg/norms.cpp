// Norms of vectors and of matrices.
#include <cmath>

#include "ops/linalg/matrices.h"
#include "ops/linalg/singular_values.h"

namespace crescent::ops {
namespace {

Tensor vector_norm(const Tensor& x, double order, int axis, bool keepdims) {
  const Tensor a = abs(x);
  if (order == INFINITY) return max(a, {axis}, keepdims);
  if (order == -INFINITY) return min(a, {axis}, keepdims);
  if (order == 0) return sum(cast(not_equal(x, 0), x.dtype()), {axis}, keepdims);
  if (order == 1) return sum(a, {axis}, keepdims);
  if (order == 2) return norm(x, {axis}, keepdims);
  return power(sum(power(a, order), {axis}, keepdims), 1 / order);
}

/// The norm of matrices in the last two axes.
Tensor matrix_norm(const Tensor& x, const Value& order) {
  if (order == Value("fro")) return norm(x, {-2, -1});
  if (order == Value("nuc")) return in_dtype_of(sum(singular_values(x), {-1}), x);
  if (!order.is_number()) fail("norm: unknown order ", order, " of matrices");
  const double p = order.as_float();
  const Tensor a = abs(x);
  if (std::abs(p) == 2) {
    const Tensor s = singular_values(x);
    return in_dtype_of(p > 0 ? max(s, {-1}) : min(s, {-1}), x);
  }
  if (std::abs(p) != 1 && !std::isinf(p)) fail("norm: unknown order ", order, " of matrices");
  const Tensor sums = sum(a, {std::abs(p) == 1 ? -2 : -1});
  return p > 0 ? max(sums, {-1}) : min(sums, {-1});
}

Value number_named(const Value& order) {
  if (order == Value("inf")) return INFINITY;
  return order == Value("-inf") ? Value(-INFINITY) : order;
}

}  // namespace

Tensor norm(const Tensor& given, const Axes& axes, bool keepdims, const Value& named) {
  if (axes.size() > 2) fail("norm: expected one axis or two, got ", axes.size());
  const Tensor x = floating(given);
  const Value order = number_named(named);
  if (order.is_null() || (axes.empty() && x.rank() == 1 && order == Value(2)))
    return norm(x, axes, keepdims);
  const std::vector<int> chosen = axes_of(x, axes);
  if (chosen.size() == 1) {
    if (!order.is_number()) fail("norm: order ", order, " is one of matrices, not of vectors");
    return vector_norm(x, order.as_float(), chosen.front(), keepdims);
  }
  if (chosen.size() != 2) fail("norm: expected one axis or two, got ", chosen.size());
  std::vector<int> others;
  for (int i = 0; i < x.rank(); ++i)
    if (i != chosen[0] && i != chosen[1]) others.push_back(i);
  others.insert(others.end(), chosen.begin(), chosen.end());
  const Tensor result = matrix_norm(transpose(x, others), order);
  if (!keepdims) return result;
  Shape kept = x.shape();
  for (int axis : chosen) kept.set(axis, 1);
  return reshape(result, kept);
}

}  // namespace crescent::ops
