// All steps of a convolutional LSTM with standard activations as one op. It keeps gates and cells
// for the gradient, which passes through time once and computes the gradient of the kernel for all
// steps together.
#pragma once
#include "crescent/program/op.h"

namespace crescent {

/// The inputs are z (t, b, space..., 4u), the inputs' part of the gates i, f, c, o; h0 and c0 (b,
/// space..., u); the recurrent kernel (window..., u, 4u); and optionally the dropout factors of h
/// before each step, with the shape of h. The results are h of every step (t, b, space..., u), last
/// h, last c, gates after activation (t, b, space..., 4u), and cells (t, b, space..., u).
struct ConvLstmSteps final : OpOf<ConvLstmSteps> {
  static constexpr const char* kName = "conv_lstm";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override;
  Tensors decompose(std::span<const Tensor> in) const override;
  Tensors vjp(const Vjp& v) const override;
};

}  // namespace crescent
