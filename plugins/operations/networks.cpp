// Operations of neural networks except convolutions: normalization, attention, losses.
#include "crescent/ops/networks.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                             const Tensor& bias, const Tensor& mask, std::optional<double> scale,
                             bool is_causal, std::optional<bool> flash_attention,
                             std::optional<double> soft_cap) {
  if (flash_attention && *flash_attention)
    fail("dot_product_attention: flash_attention = true is not supported");
  return ops::dot_product_attention(query, key, value, bias, mask, scale, is_causal, soft_cap);
}

}  // namespace

CRESCENT_REGISTER(networks) {
  Operations(registry, "keras.src.ops.nn")
      .add("BatchNorm",
           "batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=0.001)",
           &ops::batch_normalization,
           "(x - mean) / sqrt(variance + epsilon) * scale + offset along an axis.")
      .add("LayerNorm",
           "layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, "
           "rms_scaling=False)",
           &ops::layer_normalization,
           "Normalizes x to mean 0 and variance 1 along an axis, times gamma, plus beta.")
      .add("RMSNorm", "rms_normalization(x, scale=None, axis=-1, epsilon=None)",
           &ops::rms_normalization, "x divided by its root mean square along an axis, times scale.")
      .add("Normalize", "normalize(x, axis=-1, order=2, epsilon=None)", &ops::normalize,
           "x divided by its norm along an axis.")
      .add("DotProductAttention",
           "dot_product_attention(query, key, value, bias=None, mask=None, @scale=None, "
           "is_causal=False, flash_attention=None, attn_logits_soft_cap=None)",
           &dot_product_attention,
           "Attention: softmax(query key' * scale + bias) value, of tensors (batch, length, heads, "
           "size).")
      .add("BinaryCrossentropy", "binary_crossentropy(target, output, from_logits=False)",
           &ops::binary_crossentropy,
           "-target log(output) - (1 - target) log(1 - output), element by element.")
      .add("CategoricalCrossentropy",
           "categorical_crossentropy(target, output, from_logits=False, axis=-1)",
           &ops::categorical_crossentropy, "The sum of -target * log(output) along an axis.")
      .add("SparseCategoricalCrossentropy",
           "sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1)",
           &ops::sparse_categorical_crossentropy,
           "-log(output) at the class that the target gives, for each sample.")
      .add("PSNR", "psnr(x1, x2, max_val)", &ops::psnr,
           "The peak signal-to-noise ratio in decibels.");
}

}  // namespace crescent::operations
