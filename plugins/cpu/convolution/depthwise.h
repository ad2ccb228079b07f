// Depthwise convolutions with 3x3 windows that go through an image row by row: each row is
// normalized right before it is convolved, and the normalized image is never stored. One pass also
// computes the gradients of the kernel, of the image and of the normalization after the
// convolution, and the sums that the gradient of the normalization before the convolution needs.
// The compiler passes in plugins/cpu/tiling insert these ops into a program.
#pragma once
#include <cstdint>

#include "crescent/device/lowered_ops.h"

namespace crescent::cpu {

/// The op (x, mean, rstd, gamma, beta, kernel) -> the convolution of (x - mean) rstd gamma + beta,
/// perhaps after a relu. rstd is the reciprocal standard deviation.
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

/// The gradients of DepthwiseForward: inputs are (y, dnormal, mean, scale, slope, offset), from
/// which dy is computed as in BatchNormGradient, and (x, mean, rstd, gamma, beta, kernel). Results
/// are dkernel, dx before the relu, and per channel the sums of dx and of dx (x - mean).
struct DepthwiseBackward final : OpOf<DepthwiseBackward> {
  static constexpr const char* kName = "depthwise_backward";
  ConvSpec spec;
  auto fields() const { return std::tie(spec); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {in[11], in[6], in[7], in[7]};
  }
  std::string label() const override { return "normalized conv_backward"; }
};

/// True when there are loops for the convolution: float32, a 3x3 window per channel, stride 1 or 2,
/// and padding with which the output has one pixel per `stride` pixels of the input.
bool has_row_loops(const ConvSpec& spec, const TensorSpec& x, const TensorSpec& kernel,
                   const TensorSpec& y);

/// The normalization of a channel: (x - mean) rstd gamma + beta, perhaps with relu.
struct ChannelNormalization {
  const float *mean, *rstd, *gamma, *beta;
  bool relu;
};
/// The gradient of a normalization that comes after the convolution and normalizes its result y,
/// per channel: dy = scale dnormal - (y - mean) slope - offset, where dnormal is the gradient of
/// the normalized values.
struct ChannelNormalizationGradient {
  const float *mean, *scale, *slope, *offset;
};

/// Three consecutive rows of an image under a window, each with one pixel of zeros at both ends.
using WindowRows = const float* const (&)[3];

/// The arguments for computing one row of an image. The row has `columns` pixels, and the windows
/// of its first pixel begin `pad_left` pixels left of the row. `prefetched_row` and
/// `second_prefetched_row` are rows that will be read soon; the loops prefetch them while they read
/// this row.
struct DepthwiseRowArguments {
  int64_t columns, channels;
  int step, pad_left;
  const float* kernel;  ///< (3, 3, channels)
  const float *prefetched_row, *second_prefetched_row = nullptr;
};

struct DepthwiseLoops {
  void (*normalize)(const float* x, const ChannelNormalization& normal, int64_t columns,
                    int64_t channels, float* y);
  void (*output_gradient)(const float* y, const float* dnormal,
                          const ChannelNormalizationGradient& gradient, int64_t columns,
                          int64_t channels, float* dy);
  void (*forward)(const DepthwiseRowArguments& row, WindowRows x, float* y);
  /// Adds the products of x and dy for one row of dy to dkernel.
  void (*kernel_gradient)(const DepthwiseRowArguments& row, WindowRows x, const float* dy,
                          float* dkernel);
  /// Computes a row of dx, which is 0 where gate <= 0, and adds it to the sums of BatchNormSums. A
  /// row of dy is null if its windows do not cover the row.
  void (*data_gradient)(const DepthwiseRowArguments& row, WindowRows dy, const float* gate,
                        const float* x, const float* mean, float* dx, float* sum, float* product);
};
DepthwiseLoops depthwise_loops();

}  // namespace crescent::cpu
