// The ops LSTM and GRU, which process whole sequences. They decompose into scans (loops over time
// steps); devices may have faster kernels.
#include "crescent/program/program.h"
#include "program/support.h"

namespace crescent {
namespace {

/// Swaps axes 0 and 1: (batch, time, ...) <-> (time, batch, ...).
Tensor swap_time(const Tensor& x) { return ops::swap_axes(x, 0, 1); }

/// Returns part `i` of `count` equal parts of the last axis.
Tensor equal_part(const Tensor& x, int i, int count) {
  const int64_t width = x.dim(-1) / count;
  return ops::slice_axis(x, -1, i * width, (i + 1) * width);
}

Tensor concatenated(std::initializer_list<Tensor> parts) {
  return ops::concatenate(std::span<const Tensor>(parts.begin(), parts.size()), -1);
}

/// The states before each step: h0, followed by all states but the last.
Tensor previous_states(const Tensor& h0, const Tensor& hs) {
  if (hs.dim(1) == 0) return hs;
  const Tensor first_state = ops::expand_dims(h0, 1),
               earlier_states = ops::slice_axis(hs, 1, 0, hs.dim(1) - 1);
  const Tensor parts[] = {first_state, earlier_states};
  return ops::concatenate(parts, 1);
}

/// The gradient of a weight: the sum of x^T dz over batch and time.
Tensor weight_gradient(const Tensor& x, const Tensor& dz) {
  return ops::matmul(as_rows(x), as_rows(dz), true, false);
}

/// Returns the factors (b, u) by which recurrent dropout scales the states: the input after the
/// first `input_count` inputs, or an empty Tensor if there is no such input.
Tensor dropout_factors(std::span<const Tensor> in, size_t input_count) {
  return in.size() > input_count ? in[input_count] : Tensor();
}

Tensor scale_states(const Tensor& x, const Tensor& factors) {
  if (!factors) return x;
  return x * (x.rank() == 3 ? ops::expand_dims(factors, 1) : factors);
}

/// Applies the gradient op `Backward` to `inputs` and, after these, the dropout factors of the
/// states if the op has them as input number `input_count`.
template <class Backward>
Tensors apply_backward(const Vjp& v, size_t input_count, Tensors inputs) {
  if (v.inputs.size() > input_count) inputs.push_back(v.inputs[input_count]);
  Tensors result = crescent::apply(std::make_shared<const Backward>(), inputs);
  result.resize(v.inputs.size());
  return result;
}

/// Checks x (b, t, f), states (b, u), kernel (f, g u), recurrent kernel (u, g u) and bias, where g
/// is the number of gates; returns the number of units u.
int64_t check_sequence(std::string_view op, std::span<const TensorSpec> in, size_t state_count,
                       int64_t gate_count, const Shape& bias_shape) {
  const Shape& x = in[0].shape;
  const Shape &kernel = in[1 + state_count].shape, &recurrent = in[2 + state_count].shape;
  if (x.rank() != 3) fail(op, ": expected x (batch, time, features), got shape ", x);
  if (recurrent.rank() != 2)
    fail(op, ": expected a recurrent kernel (units, ", gate_count, " * units), got ", recurrent);
  const int64_t units = recurrent[0];
  expect_floating(op, in[0].dtype);
  for (const TensorSpec& spec : in) {
    if (spec.dtype != in[0].dtype)
      fail(op, ": dtypes ", in[0].dtype, " and ", spec.dtype, " differ");
  }
  auto expect = [&](const Shape& shape, const Shape& expected, const char* what) {
    if (!shape.compatible(expected))
      fail(op, ": expected ", what, " of shape ", expected, ", got ", shape);
  };
  for (size_t i = 1; i <= state_count; ++i) expect(in[i].shape, {x[0], units}, "a state");
  expect(kernel, {x[2], gate_count * units}, "a kernel");
  expect(recurrent, {units, gate_count * units}, "a recurrent kernel");
  if (bias_shape.rank() > 0) expect(in[3 + state_count].shape, bias_shape, "a bias");
  if (in.size() > 4 + state_count)
    expect(in[4 + state_count].shape, {x[0], units}, "factors of states");
  return units;
}

}  // namespace

TensorSpecs Lstm::infer(std::span<const TensorSpec> in) const {
  const int64_t units =
      check_sequence("lstm", in, 2, 4, {in[4].shape.rank() == 2 ? 4 * in[4].shape[0] : -1});
  const Shape& x = in[0].shape;
  const DType dtype = in[0].dtype;
  return {{dtype, {x[0], x[1], units}},
          {dtype, {x[0], units}},
          {dtype, {x[0], units}},
          {dtype, {x[0], x[1], 4 * units}},
          {dtype, {x[0], x[1], units}}};
}

Tensors Lstm::decompose(std::span<const Tensor> in) const {
  const Tensor &recurrent = in[4], z = swap_time(ops::matmul(in[0], in[3]) + in[5]);
  const Tensor factors = dropout_factors(in, 6);
  auto [last_states, steps] = ops::scan(
      [&](const Tensors& state, const Tensors& step) -> ops::ScanResult {
        const Tensor gates = step[0] + ops::matmul(scale_states(state[0], factors), recurrent);
        const Tensor i = ops::sigmoid(equal_part(gates, 0, 4)),
                     f = ops::sigmoid(equal_part(gates, 1, 4));
        const Tensor candidate = ops::tanh(equal_part(gates, 2, 4)),
                     o = ops::sigmoid(equal_part(gates, 3, 4));
        const Tensor c = f * state[1] + i * candidate, h = o * ops::tanh(c);
        return {{h, c}, {h, concatenated({i, f, candidate, o}), c}};
      },
      {in[1], in[2]}, {z});
  return {swap_time(steps[0]), last_states[0], last_states[1], swap_time(steps[1]),
          swap_time(steps[2])};
}

Tensors Lstm::vjp(const Vjp& v) const {
  // second-order gradients are computed through decompose()
  if (v.gradients[3] || v.gradients[4]) return Op::vjp(v);
  auto gradient = [&](size_t i) {
    return v.gradients[i] ? v.gradients[i] : ops::zeros_like(v.outputs[i]);
  };
  return apply_backward<LstmBackward>(
      v, 6,
      {v.inputs[0], v.inputs[1], v.inputs[2], v.inputs[3], v.inputs[4], v.outputs[0], v.outputs[3],
       v.outputs[4], gradient(0), gradient(1), gradient(2)});
}

TensorSpecs LstmBackward::infer(std::span<const TensorSpec> in) const {
  return {in[0], in[1], in[2], in[3], in[4], {in[0].dtype, {in[4].shape[-1]}}};
}

Tensors LstmBackward::decompose(std::span<const Tensor> in) const {
  const Tensor &x = in[0], &h0 = in[1], &c0 = in[2], &kernel = in[3], &recurrent = in[4],
               &hs = in[5], &gates = in[6], &cells = in[7], &dhs = in[8];
  const Tensor factors = dropout_factors(in, 11);
  auto [first_gradients, steps] = ops::scan(
      [&](const Tensors& state, const Tensors& step) -> ops::ScanResult {
        const Tensor &gate_values = step[0], &c = step[1], &previous_c = step[2];
        const Tensor i = equal_part(gate_values, 0, 4), f = equal_part(gate_values, 1, 4),
                     candidate = equal_part(gate_values, 2, 4), o = equal_part(gate_values, 3, 4);
        const Tensor dh = state[0] + step[3], tanh_c = ops::tanh(c);
        const Tensor dc = state[1] + dh * o * (1.0 - tanh_c * tanh_c);
        const Tensor dz =
            concatenated({dc * candidate * i * (1.0 - i), dc * previous_c * f * (1.0 - f),
                          dc * i * (1.0 - candidate * candidate), dh * tanh_c * o * (1.0 - o)});
        return {{scale_states(ops::matmul(dz, recurrent, false, true), factors), dc * f}, {dz}};
      },
      {in[9], in[10]},
      {swap_time(gates), swap_time(cells), swap_time(previous_states(c0, cells)), swap_time(dhs)},
      true);
  const Tensor dz = swap_time(steps[0]);
  return {ops::matmul(dz, kernel, false, true),
          first_gradients[0],
          first_gradients[1],
          weight_gradient(x, dz),
          weight_gradient(scale_states(previous_states(h0, hs), factors), dz),
          ops::sum(dz, {0, 1})};
}

TensorSpecs Gru::infer(std::span<const TensorSpec> in) const {
  const int64_t gate_columns =
      in[3].shape.rank() == 2 && in[3].shape[0] >= 0 ? 3 * in[3].shape[0] : -1;
  const int64_t units = check_sequence("gru", in, 1, 3, {2, gate_columns});
  const Shape& x = in[0].shape;
  const DType dtype = in[0].dtype;
  return {{dtype, {x[0], x[1], units}}, {dtype, {x[0], units}}, {dtype, {x[0], x[1], 4 * units}}};
}

Tensors Gru::decompose(std::span<const Tensor> in) const {
  const Tensor &recurrent = in[3], &bias = in[4];
  const Tensor input_bias = ops::squeeze(ops::slice_axis(bias, 0, 0, 1), 0);
  const Tensor recurrent_bias = ops::squeeze(ops::slice_axis(bias, 0, 1, 2), 0);
  const Tensor x = swap_time(ops::matmul(in[0], in[2]) + input_bias);
  const Tensor factors = dropout_factors(in, 5);
  auto [last_states, steps] = ops::scan(
      [&](const Tensors& state, const Tensors& step) -> ops::ScanResult {
        const Tensor h = scale_states(state[0], factors),
                     recurrent_sum = ops::matmul(h, recurrent) + recurrent_bias;
        const Tensor z = ops::sigmoid(equal_part(step[0], 0, 3) + equal_part(recurrent_sum, 0, 3));
        const Tensor r = ops::sigmoid(equal_part(step[0], 1, 3) + equal_part(recurrent_sum, 1, 3)),
                     projected_candidate = equal_part(recurrent_sum, 2, 3);
        const Tensor candidate = ops::tanh(equal_part(step[0], 2, 3) + r * projected_candidate);
        const Tensor next_state = z * h + (1.0 - z) * candidate;
        return {{next_state}, {next_state, concatenated({z, r, candidate, projected_candidate})}};
      },
      {in[1]}, {x});
  return {swap_time(steps[0]), last_states[0], swap_time(steps[1])};
}

Tensors Gru::vjp(const Vjp& v) const {
  if (v.gradients[2]) return Op::vjp(v);  // second-order gradients are computed through decompose()
  auto gradient = [&](size_t i) {
    return v.gradients[i] ? v.gradients[i] : ops::zeros_like(v.outputs[i]);
  };
  return apply_backward<GruBackward>(
      v, 5,
      {v.inputs[0], v.inputs[1], v.inputs[2], v.inputs[3], v.inputs[4], v.outputs[0], v.outputs[2],
       gradient(0), gradient(1)});
}

TensorSpecs GruBackward::infer(std::span<const TensorSpec> in) const {
  return {in[0], in[1], in[2], in[3], in[4]};
}

Tensors GruBackward::decompose(std::span<const Tensor> in) const {
  const Tensor &x = in[0], &kernel = in[2], &recurrent = in[3], &gates = in[6], &dhs = in[7];
  const Tensor factors = dropout_factors(in, 9),
               scaled_previous_states = scale_states(previous_states(in[1], in[5]), factors);
  auto [first_gradients, steps] = ops::scan(
      [&](const Tensors& state, const Tensors& step) -> ops::ScanResult {
        const Tensor &gate_values = step[0], &previous_h = step[1];
        const Tensor z = equal_part(gate_values, 0, 4), r = equal_part(gate_values, 1, 4),
                     candidate = equal_part(gate_values, 2, 4),
                     projected_candidate = equal_part(gate_values, 3, 4);
        const Tensor dh = state[0] + step[2];
        const Tensor dz = dh * (previous_h - candidate) * z * (1.0 - z);
        const Tensor dc = dh * (1.0 - z) * (1.0 - candidate * candidate);
        const Tensor dr = dc * projected_candidate * r * (1.0 - r);
        const Tensor recurrent_gradients = concatenated({dz, dr, dc * r});
        return {{scale_states(dh * z + ops::matmul(recurrent_gradients, recurrent, false, true),
                              factors)},
                {concatenated({dz, dr, dc}), recurrent_gradients}};
      },
      {in[8]}, {swap_time(gates), swap_time(scaled_previous_states), swap_time(dhs)}, true);
  const Tensor input_gradients = swap_time(steps[0]), recurrent_gradients = swap_time(steps[1]);
  const Tensor bias_gradients[] = {ops::sum(input_gradients, {0, 1}),
                                   ops::sum(recurrent_gradients, {0, 1})};
  return {ops::matmul(input_gradients, kernel, false, true), first_gradients[0],
          weight_gradient(x, input_gradients),
          weight_gradient(scaled_previous_states, recurrent_gradients),
          ops::stack(bias_gradients, 0)};
}

namespace ops {

LstmResult lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const Tensor& kernel,
                const Tensor& recurrent, const Tensor& bias) {
  Tensors results = apply(Lstm{}, {x, h0, c0, kernel, recurrent, bias});
  return {results[0], results[1], results[2]};
}

GruResult gru(const Tensor& x, const Tensor& h0, const Tensor& kernel, const Tensor& recurrent,
              const Tensor& bias) {
  Tensors results = apply(Gru{}, {x, h0, kernel, recurrent, bias});
  return {results[0], results[1]};
}

}  // namespace ops
}  // namespace crescent
