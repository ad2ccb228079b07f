// Ops that compute the step of an LSTM from the sums for its gates, for each sample or pixel, so
// that a device can do this in one pass over the arrays. The cpu device has kernels for these ops.
#pragma once
#include "crescent/program/op.h"

namespace crescent {

/// The inputs are the inputs' part of the gates (..., 4u), the states' part of the gates, and the
/// previous c (..., u). The results are the gates i, f, c, o after activation (..., 4u), c, and h.
struct LstmGates final : OpOf<LstmGates> {
  static constexpr const char* kName = "lstm_gates";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override;
  Tensors decompose(std::span<const Tensor> in) const override;
};

/// The inputs are gates, c, the previous c, dc, dh and optionally a second part of dh. The results
/// are the gradients of the gates before activation (..., 4u) and of the previous c.
struct LstmGatesBackward final : OpOf<LstmGatesBackward> {
  static constexpr const char* kName = "lstm_gates_backward";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override;
  Tensors decompose(std::span<const Tensor> in) const override;
};

}  // namespace crescent
