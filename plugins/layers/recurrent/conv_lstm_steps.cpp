#include "conv_lstm_steps.h"

#include "crescent/program/program.h"
#include "lstm_gates.h"

namespace crescent {
namespace {

Tensor with_factors(const Tensor& x, const Tensor& factors) { return factors ? x * factors : x; }

Tensor dropout_factors(std::span<const Tensor> in) { return in.size() > 4 ? in[4] : Tensor(); }

/// The states before each step: the first state, followed by the states after all steps but the
/// last.
Tensor states_before_steps(const Tensor& first_state, const Tensor& steps) {
  const Tensor parts[] = {ops::expand_dims(first_state, 0),
                          ops::slice_axis(steps, 0, 0, steps.dim(0) - 1)};
  return ops::concatenate(parts, 0);
}

/// Merges the axis of steps and the batch axis.
Tensor merge_batch_and_time(const Tensor& x) {
  return ops::reshape(x, Shape{x.dim(0) * x.dim(1)}.concat(x.shape().slice(2, x.rank())));
}

/// A convolution of states whose padding "same" keeps their size.
Conv same_size_conv(const Shape& state, const Shape& kernel) {
  Conv conv;
  for (int i = 0; i < state.rank() - 2; ++i) {
    const int64_t padding = kernel[i] - 1;
    conv.spec.strides.push_back(1);
    conv.spec.dilation.push_back(1);
    conv.spec.pad_before.push_back(padding / 2);
    conv.spec.pad_after.push_back(padding - padding / 2);
  }
  return conv;
}

}  // namespace

TensorSpecs ConvLstmSteps::infer(std::span<const TensorSpec> in) const {
  const Shape &z = in[0].shape, &state = in[1].shape;
  const Shape sequence_shape = Shape{z[0]}.concat(state);
  if (z[-1] != 4 * state[-1] || !z.slice(1, -1).compatible(state.slice(0, -1)))
    fail("conv_lstm: gates of shape ", z, " do not fit states of shape ", state);
  return {{in[0].dtype, sequence_shape}, in[1], in[2], in[0], {in[0].dtype, sequence_shape}};
}

Tensors ConvLstmSteps::decompose(std::span<const Tensor> in) const {
  const Tensor &recurrent = in[3], factors = dropout_factors(in);
  const Conv conv = same_size_conv(in[1].shape(), recurrent.shape());
  auto [last, steps] = ops::scan(
      [&](const Tensors& state, const Tensors& step) -> ops::ScanResult {
        const Tensor recurrent_part = apply1(conv, {with_factors(state[0], factors), recurrent});
        const Tensors results = crescent::apply(LstmGates{}, {step[0], recurrent_part, state[1]});
        const Tensor &gates = results[0], &c = results[1], &h = results[2];
        return {{h, c}, {h, gates, c}};
      },
      {in[1], in[2]}, {in[0]});
  return {steps[0], last[0], last[1], steps[1], steps[2]};
}

Tensors ConvLstmSteps::vjp(const Vjp& v) const {
  // gates or cells have gradients only if second derivatives are computed
  if (v.gradients[3] || v.gradients[4]) return Op::vjp(v);
  const Tensor &h0 = v.inputs[1], &c0 = v.inputs[2], &recurrent = v.inputs[3], &hs = v.outputs[0],
               &gates = v.outputs[3], &cells = v.outputs[4], &dhs = v.gradients[0];
  const Tensor factors = dropout_factors(v.inputs);
  const Conv conv = same_size_conv(h0.shape(), recurrent.shape());
  ConvBackwardData state_gradient_op;
  state_gradient_op.spec = conv.spec, state_gradient_op.input = h0.shape();
  auto gradient_or_zeros = [&](size_t i, const Tensor& tensor_of_shape) {
    return v.gradients[i] ? v.gradients[i] : ops::zeros_like(tensor_of_shape);
  };
  Tensors sequences{gates, cells, states_before_steps(c0, cells)};
  if (dhs) sequences.push_back(dhs);
  auto [gradient, steps] = ops::scan(
      [&](const Tensors& state, const Tensors& step) -> ops::ScanResult {
        const Tensor &step_gates = step[0], &c = step[1], &c_before = step[2];
        Tensors inputs{step_gates, c, c_before, state[1], state[0]};
        if (dhs) inputs.push_back(step[3]);
        const Tensors gradients =
            crescent::apply(std::make_shared<const LstmGatesBackward>(), inputs);
        return {{with_factors(apply1(state_gradient_op, {gradients[0], recurrent}), factors),
                 gradients[1]},
                {gradients[0]}};
      },
      {gradient_or_zeros(1, h0), gradient_or_zeros(2, c0)}, sequences, true);
  const Tensor& dz = steps[0];
  ConvBackwardKernel kernel_gradient_op;
  kernel_gradient_op.spec = conv.spec, kernel_gradient_op.kernel = recurrent.shape();
  const Tensor dropped_states = with_factors(states_before_steps(h0, hs), factors);
  Tensors result{
      dz, gradient[0], gradient[1],
      apply1(kernel_gradient_op, {merge_batch_and_time(dropped_states), merge_batch_and_time(dz)})};
  result.resize(v.inputs.size());
  return result;
}

}  // namespace crescent
