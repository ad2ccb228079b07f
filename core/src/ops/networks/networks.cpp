// Functions of network layers: normalization, attention, losses.
#include "crescent/ops/networks.h"

#include <cmath>

#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

constexpr double kEpsilon = 1e-7;  ///< the value of keras.config.epsilon()

/// Reshapes a vector for one axis of x so that it broadcasts with x; other tensors are returned
/// unchanged.
Tensor broadcast_along_axis(const Tensor& vector, const Tensor& x, int axis) {
  if (vector.rank() != 1) return vector;
  Shape shape(std::vector<int64_t>(x.rank(), 1));
  shape.set(axis_of(x, axis), vector.dim(0));
  return ops::reshape(vector, shape);
}

/// Reshapes gamma or beta, which have the sizes of the normalized axes, so that they broadcast with
/// x. A scalar is returned unchanged.
Tensor broadcast_along_axes(const Tensor& parameter, const Tensor& x, const Axes& axes) {
  if (parameter.rank() == 0) return parameter;
  Shape shape(std::vector<int64_t>(x.rank(), 1));
  for (int axis : axes_of(x, axes)) shape.set(axis, x.dim(axis));
  return ops::reshape(parameter, shape);
}

Tensor clipped_probabilities(const Tensor& p) { return ops::clip(p, kEpsilon, 1 - kEpsilon); }

/// The log probabilities of logits, or of probabilities normalized to a sum of one.
Tensor log_probabilities(const Tensor& output, bool from_logits, int axis) {
  const Tensor x = floating(output);
  if (from_logits) return ops::log_softmax(x, axis);
  return ops::log(clipped_probabilities(x / ops::sum(x, {axis}, true)));
}

/// The norm of vectors along one axis, or of matrices in two axes, for orders other than 2.
Tensor norm_of_order(const Tensor& x, double order, const Axes& axis_option) {
  const Axes axes = axes_of(x, axis_option);
  const Tensor a = ops::abs(x);
  if (axes.size() == 1 && std::isinf(order)) return ops::max(a, axes, true);
  if (axes.size() == 1)
    return order == 1 ? ops::sum(a, axes, true)
                      : ops::power(ops::sum(ops::power(a, order), axes, true), 1 / order);
  if (axes.size() != 2) fail("norm: expected one axis or two, got ", axes.size());
  if (order != 1 && !std::isinf(order)) fail("norm: unknown order ", order, " of matrices");
  const size_t summed_axis = order == 1 ? 0 : 1;
  return ops::max(ops::sum(a, {axes[summed_axis]}, true), {axes[1 - summed_axis]}, true);
}

}  // namespace

Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance, int axis,
                           const Tensor& offset, const Tensor& scale, double epsilon) {
  Tensor result = (x - broadcast_along_axis(mean, x, axis)) *
                  ops::rsqrt(broadcast_along_axis(variance, x, axis) + epsilon);
  // The scale is a separate multiplication, which devices fuse with the normalization.
  if (scale) result = result * broadcast_along_axis(scale, x, axis);
  return offset ? result + broadcast_along_axis(offset, x, axis) : result;
}

Tensor layer_normalization(const Tensor& input, const Tensor& gamma, const Tensor& beta,
                           const Axes& axes, std::optional<double> epsilon, bool rms_scaling) {
  const Tensor x = floating(input);
  const double epsilon_value = epsilon.value_or(kEpsilon);
  if (axes_of(x, axes) == Axes{x.rank() - 1} && x.dim(-1) >= 0 && !rms_scaling) {
    const Shape row_shape{x.dim(-1)};
    const auto row_or_default = [&](const Tensor& parameter, double default_value) {
      if (!parameter) return Tensor::full(row_shape, default_value, x.dtype());
      const Tensor cast_parameter = ops::cast(parameter, x.dtype());
      return cast_parameter.rank() == 0 ? ops::broadcast_to(cast_parameter, row_shape)
                                        : ops::reshape(cast_parameter, row_shape);
    };
    return ops::cast(
        ops::layer_norm(x, row_or_default(gamma, 1), row_or_default(beta, 0), epsilon_value),
        input.dtype());
  }
  const auto normalize_wide = [&](const Tensor& wide_x) {
    const Tensor centered = wide_x - ops::mean(wide_x, axes, true);
    const Tensor variance = ops::mean(ops::square(centered), axes, true);
    Tensor result = (rms_scaling ? wide_x : centered) * ops::rsqrt(variance + epsilon_value);
    if (gamma) result = result * broadcast_along_axes(gamma, x, axes);
    return beta && !rms_scaling ? result + broadcast_along_axes(beta, x, axes) : result;
  };
  return ops::cast(in_wide(x, normalize_wide), input.dtype());
}

Tensor rms_normalization(const Tensor& input, const Tensor& scale, const Axes& axes,
                         std::optional<double> epsilon) {
  return in_wide(input, [&](const Tensor& x) {
    const Tensor mean_square = ops::mean(ops::square(x), axes, true);
    const Tensor result = x * ops::rsqrt(mean_square + epsilon.value_or(kEpsilon));
    return scale ? result * broadcast_along_axes(scale, x, axes) : result;
  });
}

Tensor normalize(const Tensor& input, const Axes& axes, double order,
                 std::optional<double> epsilon) {
  if (order < 1 || order != std::floor(order))
    fail("normalize: order must be a whole number of at least 1, got ", order);
  const Tensor x = floating(input);
  const double epsilon_value = epsilon.value_or(kEpsilon);
  if (order != 2) return x / ops::maximum(norm_of_order(x, order, axes), epsilon_value);
  return in_wide(x, [&](const Tensor& wide_x) {
    const Tensor square_sum = ops::sum(ops::square(wide_x), axes, true);
    return wide_x * ops::rsqrt(ops::maximum(square_sum, epsilon_value * epsilon_value));
  });
}

Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                             const Tensor& bias, const Tensor& mask, std::optional<double> scale,
                             bool is_causal, std::optional<double> soft_cap) {
  if (query.rank() != 4 || key.rank() != 4 || value.rank() != 4)
    fail("dot_product_attention: expected (batch, length, heads, width) three times, got shapes ",
         query.shape(), ", ", key.shape(), " and ", value.shape());
  const double score_scale = scale.value_or(1 / std::sqrt(static_cast<double>(query.dim(-1))));
  const int64_t query_heads = query.dim(2), key_heads = key.dim(2);
  if (key_heads < 1 || query_heads % key_heads != 0)
    fail(
        "dot_product_attention: the number of query heads must be a multiple of the number of key ",
        "heads, got shapes ", query.shape(), " and ", key.shape());
  const auto repeat_heads = [&](const Tensor& x) {
    return key_heads == query_heads ? x : ops::repeat(x, query_heads / key_heads, 2);
  };
  const Tensor k = repeat_heads(key), v = repeat_heads(value);
  Tensor allowed_mask = mask ? ops::cast(mask, DType::boolean) : mask;
  while (allowed_mask && allowed_mask.rank() < 4) allowed_mask = ops::expand_dims(allowed_mask, 0);
  if (!bias && !soft_cap)
    return ops::dot_product_attention(query, k, v, allowed_mask, score_scale, is_causal);
  if (is_causal) {
    const Tensor earlier_keys =
        ops::less_equal(positions(key.dim(1), 1, 2), positions(query.dim(1), 0, 2));
    allowed_mask = allowed_mask ? ops::logical_and(allowed_mask, earlier_keys) : earlier_keys;
  }
  // Half-width floats cannot represent the very negative scores of masked keys.
  const auto with_wide_dtype = [](const Tensor& x) {
    return is_floating(x.dtype()) && size_of(x.dtype()) == 2 ? ops::cast(x, DType::float32) : x;
  };
  Tensor scores =
      ops::einsum("bthd,bshd->bhts", Tensors{with_wide_dtype(query), with_wide_dtype(k)}) *
      score_scale;
  if (soft_cap) scores = ops::tanh(scores / *soft_cap) * *soft_cap;
  if (bias) scores = scores + ops::cast(bias, scores.dtype());
  if (allowed_mask) scores = ops::where(allowed_mask, scores, -0.7 * 3.4028234663852886e38);
  const Tensor weights = ops::cast(ops::softmax(scores, -1), v.dtype());
  return ops::einsum("bhts,bshd->bthd", Tensors{weights, v});
}

Tensor binary_crossentropy(const Tensor& target, const Tensor& output, bool from_logits) {
  const Tensor x = floating(output), t = ops::cast(target, x.dtype());
  // The argument of softplus is -|x|, written so that at x = 0, where relu has derivative 0, the
  // derivative of the whole sum is right: softplus contributes 0.5.
  if (from_logits)
    return ops::relu(x) - x * t + ops::softplus(ops::where(ops::greater(x, 0), -x, x));
  const Tensor p = clipped_probabilities(x);
  return -(t * ops::log(p) + (1.0 - t) * ops::log(1.0 - p));
}

Tensor categorical_crossentropy(const Tensor& target, const Tensor& output, bool from_logits,
                                int axis) {
  const Tensor logs = log_probabilities(output, from_logits, axis);
  return -ops::sum(ops::cast(target, logs.dtype()) * logs, {axis});
}

Tensor sparse_categorical_crossentropy(const Tensor& target, const Tensor& output, bool from_logits,
                                       int axis) {
  const int class_axis = axis_of(output, axis);
  const Tensor logs = log_probabilities(output, from_logits, class_axis);
  const Tensor classes = ops::expand_dims(
      ops::cast(
          target.rank() == output.rank() && target.dim(-1) == 1 ? ops::squeeze(target, -1) : target,
          DType::int32),
      class_axis);
  return -ops::squeeze(ops::gather_along_axis(logs, classes, class_axis), class_axis);
}

Tensor psnr(const Tensor& a, const Tensor& b, double max_val) {
  const auto [x, y] = promoted(a, b);
  const Tensor error = ops::mean(ops::square(floating(x) - floating(y)));
  return 20 * std::log10(max_val) - ops::log(error) * (10 / std::log(10.0));
}

}  // namespace crescent::ops
