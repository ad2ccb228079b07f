// Activation functions and what is near them.
#include <algorithm>
#include <cmath>

#include "crescent/registry/registration.h"
#include "families.h"

namespace crescent::operations {
namespace {

using ops::where;

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

Tensor hard_sigmoid(const Tensor& x) { return ops::hard_tanh(x / 6.0 + 0.5, 0, 1); }

/// Over one axis or several.
template <Tensor (*F)(const Tensor&, int)>
Tensor over_axes(const Tensor& given, const std::vector<int>& axes) {
  const Tensor x = floating(given);
  if (axes.empty() || x.rank() == 0) return ops::reshape(F(ops::reshape(x, {-1}), -1), x.shape());
  if (axes.size() == 1) return F(x, axes.front());
  // The axes go to the end, become one and come back.
  std::vector<int> order, chosen = axes_of(x, axes), back(static_cast<size_t>(x.rank()));
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) order.push_back(i);
  const auto kept = static_cast<int>(order.size());
  order.insert(order.end(), chosen.begin(), chosen.end());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int>(i);
  const Tensor moved = ops::transpose(x, order);
  int64_t n = 1;
  for (int axis : chosen) n = x.dim(axis) < 0 ? -1 : n * x.dim(axis);
  const Tensor flat = ops::reshape(moved, moved.shape().slice(0, kept).concat({n}));
  return ops::transpose(ops::reshape(F(flat, -1), moved.shape()), back);
}

Tensor glu(const Tensor& x, int axis) {
  const int64_t half = x.dim(axis) / 2;
  if (half * 2 != x.dim(axis)) fail("glu: axis ", axis, " must be even, got shape ", x.shape());
  const Tensors parts = ops::split(x, {half, half}, axis);
  return parts[0] * ops::sigmoid(parts[1]);
}

/// Projection onto the simplex as Keras 3 computes it: the threshold comes from the sum of the
/// running sums over the support.
Tensor sparsemax(const Tensor& given, int axis) {
  const int last = given.rank() - 1;
  const Tensor x = ops::swap_axes(given, axis, last);
  const int64_t n = x.dim(-1);
  const Tensor sorted = ops::top_k(x, n)[0], total = ops::cumsum(sorted, -1);
  const Tensor rank = ops::cast(ops::arange(n), x.dtype()) + 1.0;
  const Tensor inside = ops::greater(sorted - (total - 1.0) / rank, 0);
  const Tensor support = ops::sum(ops::cast(inside, x.dtype()), {-1}, true);
  const Tensor threshold = (ops::sum(where(inside, total, 0), {-1}, true) - 1.0) / support;
  return ops::swap_axes(ops::relu(x - threshold), axis, last);
}

Tensor celu(const Tensor& x, double alpha) {
  return ops::relu(x) + alpha * ops::expm1(ops::minimum(x, 0) / alpha);
}

Tensor sparse_plus(const Tensor& x) {
  return where(ops::less_equal(x, -1), 0, where(ops::less(x, 1), 0.25 * ops::square(x + 1.0), x));
}

Tensor squareplus(const Tensor& x, double b) { return (x + ops::sqrt(ops::square(x) + b)) * 0.5; }

}  // namespace

CRESCENT_REGISTER(activations) {
  Operations(registry, "keras.src.ops.nn")
      .add("Relu", "relu(x)", &ops::relu, "max(x, 0)")
      .add(
          "Relu6", "relu6(x)", [](const Tensor& x) { return ops::hard_tanh(x, 0, 6); },
          "The larger of x and 0, at most 6.")
      .add("Sigmoid", "sigmoid(x)", &ops::sigmoid, "1 / (1 + exp(-x)).")
      .add(
          "SparseSigmoid", "sparse_sigmoid(x)",
          [](const Tensor& x) { return ops::hard_tanh((x + 1.0) * 0.5, 0, 1); },
          "0 up to -1, 1 from 1 on, (x + 1) / 2 between.")
      .add("Softplus", "softplus(x)", &ops::softplus, "log(1 + exp(x))")
      .add(
          "Softsign", "softsign(x)", [](const Tensor& x) { return x / (ops::abs(x) + 1.0); },
          "x / (1 + |x|)")
      .add(
          "SoftShrink", "soft_shrink(x, threshold=0.5)",
          [](const Tensor& x, double t) {
            return where(ops::greater(ops::abs(x), t), x - ops::sign(x) * t, 0);
          },
          "x moved towards 0 by the threshold; 0 within it.")
      .add("SparsePlus", "sparse_plus(x)", &sparse_plus,
           "0 up to -1, x from 1 on, (x + 1)^2 / 4 between.")
      .add("Silu", "silu|swish(x)", &ops::silu, "x * sigmoid(x)")
      .add("Squareplus", "squareplus(x, b=4)", &squareplus, "(x + sqrt(x^2 + b)) / 2")
      .add(
          "LogSigmoid", "log_sigmoid(x)", [](const Tensor& x) { return -ops::softplus(-x); },
          "The logarithm of sigmoid(x).")
      .add("LeakyRelu", "leaky_relu(x, negative_slope=0.2)", &ops::leaky_relu,
           "x where it is positive, else negative_slope * x.")
      .add("HardSigmoid", "hard_sigmoid(x)", &hard_sigmoid, "clip(x / 6 + 0.5, 0, 1)")
      .add(
          "HardSilu", "hard_silu|hard_swish(x)",
          [](const Tensor& x) { return x * hard_sigmoid(x); }, "x * relu6(x + 3) / 6.")
      .add("Elu", "elu(x, alpha=1.0)", &ops::elu,
           "x where it is positive, else alpha * (exp(x) - 1).")
      .add(
          "Selu", "selu(x)", [](const Tensor& x) { return kSeluScale * ops::elu(x, kSeluAlpha); },
          "elu scaled so that networks keep mean 0 and variance 1.")
      .add("Gelu", "gelu(x, approximate=True)", &ops::gelu,
           "x times the share of the normal distribution below x; approximate: by tanh.")
      .add("Celu", "celu(x, alpha=1.0)", &celu,
           "x where it is positive, else alpha * (exp(x / alpha) - 1).")
      .add("Glu", "glu(x, axis=-1)", &glu, "The first half * sigmoid(the second half) of an axis.")
      .add(
          "TanhShrink", "tanh_shrink(x)", [](const Tensor& x) { return x - ops::tanh(x); },
          "x - tanh(x).")
      .add(
          "HardTanh", "hard_tanh(x)", [](const Tensor& x) { return ops::hard_tanh(x, -1, 1); },
          "x within -1 and 1.")
      .add(
          "HardShrink", "hard_shrink(x, threshold=0.5)",
          [](const Tensor& x, double t) {
            return where(ops::less_equal(ops::abs(x), t), number_like(x, 0), x);
          },
          "x where it is beyond the threshold, else 0.")
      .add(
          "Threshold", "threshold(x, threshold, default_value)",
          [](const Tensor& x, double t, double value) {
            return where(ops::greater(x, t), x, number_like(x, value));
          },
          "default_value where x is not above the threshold.")
      .add("Softmax", "softmax(x, axis=-1)", &over_axes<ops::softmax>,
           "Exponentials divided by their sum along an axis.")
      .add("LogSoftmax", "log_softmax(x, axis=-1)", &over_axes<ops::log_softmax>,
           "The logarithm of softmax.")
      .add("Sparsemax", "sparsemax(x, axis=-1)", &sparsemax,
           "The nearest point whose numbers along an axis are not negative and sum to 1.");
}

}  // namespace crescent::operations
