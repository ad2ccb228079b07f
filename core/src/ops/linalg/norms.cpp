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
  const Tensor line_sums = sum(a, {std::abs(p) == 1 ? -2 : -1});
  return p > 0 ? max(line_sums, {-1}) : min(line_sums, {-1});
}

Value numeric_order(const Value& order) {
  if (order == Value("inf")) return INFINITY;
  return order == Value("-inf") ? Value(-INFINITY) : order;
}

}  // namespace

Tensor norm(const Tensor& input, const Axes& axes, bool keepdims, const Value& order_option) {
  if (axes.size() > 2) fail("norm: expected one axis or two, got ", axes.size());
  const Tensor x = floating(input);
  const Value order = numeric_order(order_option);
  if (order.is_null() || (axes.empty() && x.rank() == 1 && order == Value(2)))
    return norm(x, axes, keepdims);
  const std::vector<int> norm_axes = axes_of(x, axes);
  if (norm_axes.size() == 1) {
    if (!order.is_number()) fail("norm: order ", order, " is one of matrices, not of vectors");
    return vector_norm(x, order.as_float(), norm_axes.front(), keepdims);
  }
  if (norm_axes.size() != 2) fail("norm: expected one axis or two, got ", norm_axes.size());
  std::vector<int> axis_order;
  for (int i = 0; i < x.rank(); ++i)
    if (i != norm_axes[0] && i != norm_axes[1]) axis_order.push_back(i);
  axis_order.insert(axis_order.end(), norm_axes.begin(), norm_axes.end());
  const Tensor result = matrix_norm(transpose(x, axis_order), order);
  if (!keepdims) return result;
  Shape kept_shape = x.shape();
  for (int axis : norm_axes) kept_shape.set(axis, 1);
  return reshape(result, kept_shape);
}

}  // namespace crescent::ops
