// What networks are made of beside convolutions: normalization, attention, losses.
#include "crescent/ops/networks.h"

#include <cmath>

#include "../called_operations.h"
#include "families.h"

namespace crescent::operations {
namespace {

using ops::Axes;
constexpr double kEpsilon = 1e-7;  ///< keras.config.epsilon()

/// x / max(its norm, epsilon); over two axes the norm is that of matrices.
Tensor normalize(const Tensor& given, const Axes& axes, double order,
                 std::optional<double> epsilon) {
  if (order < 1 || order != std::floor(order))
    fail("normalize: order must be a whole number of at least 1, got ", order);
  const Tensor x = floating(given);
  const double least = epsilon.value_or(kEpsilon);
  if (order == 2)
    return in_wide(x, [&](const Tensor& wide) {
      const Tensor squares = ops::sum(ops::square(wide), axes, true);
      return wide * ops::rsqrt(ops::maximum(squares, least * least));
    });
  const Tensor norm = operation(
      "norm",
      {{"x", boxed(x)},
       {"ord", order},
       {"axis", axes.empty() ? Value() : Value(std::vector<int64_t>(axes.begin(), axes.end()))},
       {"keepdims", true}});
  return x / ops::maximum(norm, least);
}

Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                             const Tensor& bias, const Tensor& mask, std::optional<double> scale,
                             bool is_causal, std::optional<bool> flash_attention,
                             std::optional<double> soft_cap) {
  if (flash_attention && *flash_attention)
    fail("dot_product_attention: flash_attention=True is not supported");
  return ops::dot_product_attention(query, key, value, bias, mask, scale, is_causal, soft_cap);
}

}  // namespace

void add_networks(Registry& registry) {
  Operations(registry, "keras.src.ops.nn")
      .add("BatchNorm",
           "batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=0.001)",
           &ops::batch_normalization)
      .add("LayerNorm",
           "layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, "
           "rms_scaling=False)",
           &ops::layer_normalization)
      .add("RMSNorm", "rms_normalization(x, scale=None, axis=-1, epsilon=None)",
           &ops::rms_normalization)
      .add("Normalize", "normalize(x, axis=-1, order=2, epsilon=None)", &normalize,
           "Divided by the norm.")
      .add("DotProductAttention",
           "dot_product_attention(query, key, value, bias=None, mask=None, @scale=None, "
           "is_causal=False, flash_attention=None, attn_logits_soft_cap=None)",
           &dot_product_attention)
      .add("BinaryCrossentropy", "binary_crossentropy(target, output, from_logits=False)",
           &ops::binary_crossentropy)
      .add("CategoricalCrossentropy",
           "categorical_crossentropy(target, output, from_logits=False, axis=-1)",
           &ops::categorical_crossentropy)
      .add("SparseCategoricalCrossentropy",
           "sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1)",
           &ops::sparse_categorical_crossentropy)
      .add("PSNR", "psnr(x1, x2, max_val)", &ops::psnr, "Peak signal to noise, in decibels.");
}

}  // namespace crescent::operations
