// The computation of an LSTM on its gates, for each sample or pixel of a step, as ops, so a device
// can do it in one pass over the arrays. The cpu device has kernels under these names.
#pragma once
#include "crescent/program/op.h"

namespace crescent {

/// (the inputs' part of the gates (..., 4u), the states' part, c before (..., u)) -> gates i, f, c,
/// o after activation (..., 4u), c, h.
struct LstmGates final : OpOf<LstmGates> {
  static constexpr const char* kName = "lstm_gates";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override;
  Tensors decompose(std::span<const Tensor> in) const override;
};

/// (gates, c, c before, dc, dh[, another part of dh]) -> gradients of the gates before activation
/// (..., 4u) and of c before.
struct LstmGatesBackward final : OpOf<LstmGatesBackward> {
  static constexpr const char* kName = "lstm_gates_backward";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override;
  Tensors decompose(std::span<const Tensor> in) const override;
};

}  // namespace crescent
