// Depthwise convolutions with windows of 3x3 that go through an image row by row: a row is
// normalized right before it is convolved, and the normalized image is in memory nowhere. The
// gradients of kernel and image, of the normalization behind, and the sums that the one before
// wants are made in one go, too. Slices of the batch (slices/) are made of them.
#pragma once
#include <cstdint>

#include "crescent/device/lowered_ops.h"

namespace crescent::cpu {

/// (x, mean, rstd, gamma, beta, kernel) -> the convolution of (x - mean) rstd gamma + beta, maybe
/// with relu.
struct DepthwiseForward final : OpOf<DepthwiseForward> {
  static constexpr const char* kName = "depthwise_forward";
  ConvSpec spec;
  bool relu = false;
  Shape output;
  auto fields() const { return std::tie(spec, relu, output); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {{in[0].dtype, output}};
  }
  std::string label() const override { return "normalized conv"; }
};

/// (y, dnormal, mean, scale, slope, offset: as of BatchNormGradient, which gives dy; x, mean, rstd,
/// gamma, beta, kernel) -> dkernel, dx behind relu, sums of dx and of dx (x - mean).
struct DepthwiseBackward final : OpOf<DepthwiseBackward> {
  static constexpr const char* kName = "depthwise_backward";
  ConvSpec spec;
  auto fields() const { return std::tie(spec); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {in[11], in[6], in[7], in[7]};
  }
  std::string label() const override { return "normalized conv_backward"; }
};

/// Whether there are loops for it: images of single precision, a window of 3x3 for each channel,
/// steps of 1 or 2, and as much padding as gives an output for each step.
bool goes_by_rows(const ConvSpec& spec, const TensorSpec& x, const TensorSpec& kernel,
                  const TensorSpec& y);

/// Per channel: (x - mean) rstd gamma + beta, maybe with relu.
struct Normal {
  const float *mean, *rstd, *gamma, *beta;
  bool relu;
};
/// Per channel: dy = scale dnormal - (y - mean) slope - offset.
struct NormalGradient {
  const float *mean, *scale, *slope, *offset;
};

/// Rows of an image that are one below the other under a window; before the first and behind the
/// last of their pixels is one of zeros.
using WindowRows = const float* const (&)[3];

/// A row that is computed: so many pixels, for windows that begin `before` pixels left of the row.
/// `later` are rows that are read soon, which are asked for meanwhile, as many values as are read.
struct DepthwiseRow {
  int64_t columns, channels;
  int step, before;
  const float* kernel;  ///< (3, 3, channels)
  const float *later, *later_too = nullptr;
};

struct DepthwiseLoops {
  void (*normalize)(const float* x, const Normal& normal, int64_t columns, int64_t channels,
                    float* y);
  void (*output_gradient)(const float* y, const float* dnormal, const NormalGradient& gradient,
                          int64_t columns, int64_t channels, float* dy);
  void (*forward)(const DepthwiseRow& row, WindowRows x, float* y);
  /// dkernel += x dy, of which the row is one.
  void (*kernel_gradient)(const DepthwiseRow& row, WindowRows x, const float* dy, float* dkernel);
  /// dx, which is 0 where not gate > 0; += its sums as of BatchNormSums. Null are rows of dy that
  /// no window over this row has.
  void (*data_gradient)(const DepthwiseRow& row, WindowRows dy, const float* gate, const float* x,
                        const float* mean, float* dx, float* sum, float* product);
};
DepthwiseLoops depthwise_loops();

}  // namespace crescent::cpu
