// Building blocks of networks other than convolutions: normalization, attention, losses per element
// or row, alignments of sequences.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops {

// -- normalization
/// Normalizes x by the given mean and variance, then multiplies by `scale` and adds `offset`. These
/// four are vectors along the axis, or broadcast with x.
CRESCENT_API Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                                        int axis, const Tensor& offset = {},
                                        const Tensor& scale = {}, double epsilon = 0.001);
/// Normalizes x over the axes. gamma and beta have the shape of the axes, or are scalars. With
/// rms_scaling, which Keras keeps for old models, x itself, without its mean subtracted, is divided
/// by the standard deviation.
CRESCENT_API Tensor layer_normalization(const Tensor& x, const Tensor& gamma = {},
                                        const Tensor& beta = {}, const Axes& axes = {-1},
                                        std::optional<double> epsilon = {},
                                        bool rms_scaling = false);
/// x / sqrt(mean of x^2 over the axes + epsilon), multiplied by `scale`, which has the shape of the
/// axes or is a scalar.
CRESCENT_API Tensor rms_normalization(const Tensor& x, const Tensor& scale = {},
                                      const Axes& axes = {-1}, std::optional<double> epsilon = {});

/// x / max(norm of x, epsilon); over two axes the norm is a matrix norm.
CRESCENT_API Tensor normalize(const Tensor& x, const Axes& axes = {-1}, double order = 2,
                              std::optional<double> epsilon = {});

// -- attention
/// query (b, t, h, d), key and value (b, s, g, d), where h is a multiple of g (grouped-query
/// attention) -> (b, t, h, d). The mask broadcasts to (b, h, t, s); the bias is added to the
/// scores; soft_cap limits the scores by tanh.
CRESCENT_API Tensor dot_product_attention(const Tensor& query, const Tensor& key,
                                          const Tensor& value, const Tensor& bias,
                                          const Tensor& mask, std::optional<double> scale,
                                          bool is_causal, std::optional<double> soft_cap = {});

// -- losses
/// The loss of each element, in the shape of `output`, which holds probabilities or, if
/// `from_logits`, logits.
CRESCENT_API Tensor binary_crossentropy(const Tensor& target, const Tensor& output,
                                        bool from_logits = false);
/// The loss of each row along the axis of classes: target and output (..., classes) -> (...).
CRESCENT_API Tensor categorical_crossentropy(const Tensor& target, const Tensor& output,
                                             bool from_logits = false, int axis = -1);
/// The loss of each row along the axis of classes: class numbers (...) or (..., 1), output (...,
/// classes) -> (...).
CRESCENT_API Tensor sparse_categorical_crossentropy(const Tensor& target, const Tensor& output,
                                                    bool from_logits = false, int axis = -1);
/// Peak signal-to-noise ratio, in decibels.
CRESCENT_API Tensor psnr(const Tensor& x1, const Tensor& x2, double max_val);

// -- alignments (Graves et al., 2006)
/// The connectionist temporal classification loss of each sample: target (batch, labels), output
/// (batch, time, classes), lengths (batch) -> (batch).
CRESCENT_API Tensor ctc_loss(const Tensor& target, const Tensor& output,
                             const Tensor& target_length, const Tensor& output_length,
                             int64_t mask_index = 0);
struct CtcOptions {
  bool beam_search = false;  ///< false: the most likely class of each time step is chosen
  int64_t beam_width = 100, top_paths = 1;
  bool merge_repeated = true;             ///< has no effect on beam search, which always merges
  std::optional<int64_t> mask_index = 0;  ///< nullopt: the last class
};
/// inputs (batch, time, classes), lengths (batch) -> labels (paths, batch, time), padded with -1,
/// and the scores of the paths (batch, paths).
CRESCENT_API std::tuple<Tensor, Tensor> ctc_decode(const Tensor& inputs, const Tensor& lengths,
                                                   const CtcOptions& options = {});

}  // namespace crescent::ops
