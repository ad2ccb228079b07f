#include "lstm_gates.h"

#include "crescent/ops/ops.h"

namespace crescent {
namespace {

/// Block i of the four blocks of the last axis.
Tensor gate_block(const Tensor& x, int i) {
  const int64_t width = x.dim(-1) / 4;
  return ops::slice_axis(x, -1, i * width, (i + 1) * width);
}

Tensor joined_blocks(const Tensors& parts) { return ops::concatenate(parts, -1); }

}  // namespace

TensorSpecs LstmGates::infer(std::span<const TensorSpec> in) const { return {in[0], in[2], in[2]}; }

Tensors LstmGates::decompose(std::span<const Tensor> in) const {
  const Tensor z = in[0] + in[1];
  const Tensor i = ops::sigmoid(gate_block(z, 0)), f = ops::sigmoid(gate_block(z, 1)),
               candidate = ops::tanh(gate_block(z, 2)), o = ops::sigmoid(gate_block(z, 3));
  const Tensor c = f * in[2] + i * candidate;
  return {joined_blocks({i, f, candidate, o}), c, o * ops::tanh(c)};
}

TensorSpecs LstmGatesBackward::infer(std::span<const TensorSpec> in) const {
  return {in[0], in[1]};
}

Tensors LstmGatesBackward::decompose(std::span<const Tensor> in) const {
  const Tensor i = gate_block(in[0], 0), f = gate_block(in[0], 1), candidate = gate_block(in[0], 2),
               o = gate_block(in[0], 3);
  const Tensor &c_before = in[2], dh = in.size() > 5 ? in[4] + in[5] : in[4],
               tanh_c = ops::tanh(in[1]), dc = in[3] + dh * o * (1.0 - tanh_c * tanh_c);
  return {joined_blocks({dc * candidate * i * (1.0 - i), dc * c_before * f * (1.0 - f),
                         dc * i * (1.0 - candidate * candidate), dh * tanh_c * o * (1.0 - o)}),
          dc * f};
}

}  // namespace crescent
