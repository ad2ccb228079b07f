// Activation functions.
#include "crescent/ops/activations.h"

#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

/// Applies a function that works along one axis to several axes together.
template <Tensor (*F)(const Tensor&, int)>
Tensor over_axes(const Tensor& input, const std::vector<int>& axes) {
  const Tensor x = floating(input);
  if (axes.empty() || x.rank() == 0) return ops::reshape(F(ops::reshape(x, {-1}), -1), x.shape());
  if (axes.size() == 1) return F(x, axes.front());
  // The axes are moved to the end, joined, and moved back afterwards.
  std::vector<int> order, joined_axes = axes_of(x, axes), inverse_order(x.rank());
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(joined_axes.begin(), joined_axes.end(), i) == joined_axes.end())
      order.push_back(i);
  const auto kept_count = static_cast<int>(order.size());
  order.insert(order.end(), joined_axes.begin(), joined_axes.end());
  for (size_t i = 0; i < order.size(); ++i) inverse_order[order[i]] = static_cast<int>(i);
  const Tensor transposed_x = ops::transpose(x, order);
  int64_t n = 1;
  for (int axis : joined_axes) n = x.dim(axis) < 0 ? -1 : n * x.dim(axis);
  const Tensor joined_x =
      ops::reshape(transposed_x, transposed_x.shape().slice(0, kept_count).concat({n}));
  return ops::transpose(ops::reshape(F(joined_x, -1), transposed_x.shape()), inverse_order);
}

}  // namespace

Tensor relu6(const Tensor& x) { return ops::hard_tanh(x, 0, 6); }
Tensor sparse_sigmoid(const Tensor& x) { return ops::hard_tanh((x + 1.0) * 0.5, 0, 1); }
Tensor softsign(const Tensor& x) { return x / (ops::abs(x) + 1.0); }
Tensor soft_shrink(const Tensor& x, double threshold) {
  return where(ops::greater(ops::abs(x), threshold), x - ops::sign(x) * threshold, 0);
}
Tensor hard_shrink(const Tensor& x, double threshold) {
  return where(ops::less_equal(ops::abs(x), threshold), number_like(x, 0), x);
}
Tensor tanh_shrink(const Tensor& x) { return x - ops::tanh(x); }
Tensor log_sigmoid(const Tensor& x) { return -ops::softplus(-x); }
Tensor hard_silu(const Tensor& x) { return x * hard_sigmoid(x); }
Tensor selu(const Tensor& x) { return kSeluScale * ops::elu(x, kSeluAlpha); }
Tensor threshold(const Tensor& x, double threshold, double value) {
  return where(ops::greater(x, threshold), x, number_like(x, value));
}

Tensor softmax(const Tensor& x, const Axes& axes) { return over_axes<ops::softmax>(x, axes); }
Tensor log_softmax(const Tensor& x, const Axes& axes) {
  return over_axes<ops::log_softmax>(x, axes);
}

Tensor hard_sigmoid(const Tensor& x) { return ops::hard_tanh(x / 6.0 + 0.5, 0, 1); }

Tensor glu(const Tensor& x, int axis) {
  const int64_t half_size = x.dim(axis) / 2;
  if (half_size * 2 != x.dim(axis))
    fail("glu: axis ", axis, " must be even, got shape ", x.shape());
  const Tensors halves = ops::split(x, {half_size, half_size}, axis);
  return halves[0] * ops::sigmoid(halves[1]);
}

/// Projection onto the simplex as in Keras 3, where the threshold is computed from the sum of the
/// cumulative sums over the support.
Tensor sparsemax(const Tensor& input, int axis) {
  const int last_axis = input.rank() - 1;
  const Tensor x = ops::swap_axes(input, axis, last_axis);
  const int64_t n = x.dim(-1);
  const Tensor sorted_x = ops::top_k(x, n)[0], prefix_sums = ops::cumsum(sorted_x, -1);
  const Tensor rank = ops::cast(ops::arange(n), x.dtype()) + 1.0;
  const Tensor is_in_support = ops::greater(sorted_x - (prefix_sums - 1.0) / rank, 0);
  const Tensor support_size = ops::sum(ops::cast(is_in_support, x.dtype()), {-1}, true);
  const Tensor threshold =
      (ops::sum(where(is_in_support, prefix_sums, 0), {-1}, true) - 1.0) / support_size;
  return ops::swap_axes(ops::relu(x - threshold), axis, last_axis);
}

Tensor celu(const Tensor& x, double alpha) {
  return ops::relu(x) + alpha * ops::expm1(ops::minimum(x, 0) / alpha);
}

Tensor sparse_plus(const Tensor& x) {
  return where(ops::less_equal(x, -1), 0, where(ops::less(x, 1), 0.25 * ops::square(x + 1.0), x));
}

Tensor squareplus(const Tensor& x, double b) { return (x + ops::sqrt(ops::square(x) + b)) * 0.5; }

}  // namespace crescent::ops
