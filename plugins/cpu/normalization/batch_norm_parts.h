// The gradient of batch normalization as three ops: sums, factors, gradient. The passes in
// plugins/cpu/tiling can compute the first and the last op slice by slice along the batch.
#pragma once
#include "crescent/program/op_types.h"

namespace crescent::cpu {

/// The op (x, dy, mean) -> sums of dy and of dy (x - mean), per channel.
struct BatchNormSums final : OpOf<BatchNormSums> {
  static constexpr const char* kName = "batch_norm_sums";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[2], in[2]}; }
};

/// The op (sum of dy, sum of dy (x - mean), gamma, variance) -> dgamma, scale, slope, offset, per
/// channel.
struct BatchNormFactors final : OpOf<BatchNormFactors> {
  static constexpr const char* kName = "batch_norm_factors";
  double epsilon = 1e-3;
  int64_t rows = 0;  ///< number of rows over which the sums were computed
  auto fields() const { return std::tie(epsilon, rows); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {in[0], in[0], in[0], in[0]};
  }
};

/// The op (x, dy, mean, scale, slope, offset) -> dx = scale dy - (x - mean) slope - offset.
struct BatchNormGradient final : OpOf<BatchNormGradient> {
  static constexpr const char* kName = "batch_norm_gradient";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
};

}  // namespace crescent::cpu
