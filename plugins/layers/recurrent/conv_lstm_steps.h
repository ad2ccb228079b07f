// All steps of a convolutional LSTM with standard activations, as an op: what a step makes is kept
// for the gradient, which goes through time once and sums up the kernel's for all steps together.
#pragma once
#include "crescent/program/op.h"

namespace crescent {

/// (z (t, b, space..., 4u): the inputs' part of the gates i, f, c, o; h0, c0 (b, space..., u);
/// recurrent kernel (window..., u, 4u)[, factors that h is multiplied with before each step, of its
/// shape]) -> h of every step (t, b, space..., u), last h, last c, gates after activation
/// (t, b, space..., 4u), cells (t, b, space..., u).
struct ConvLstmSteps final : OpOf<ConvLstmSteps> {
  static constexpr const char* kName = "conv_lstm";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override;
  Tensors decompose(std::span<const Tensor> in) const override;
  Tensors vjp(const Vjp& v) const override;
};

}  // namespace crescent
