// LSTM and GRU over all steps as ops of their own; decompose() states them as a scan.
#include "crescent/ops.h"
#include "crescent/program.h"

namespace crescent {
namespace {

using namespace ops;

/// (batch, time, ...) <-> (time, batch, ...).
Tensor time_first(const Tensor& x) { return swap_axes(x, 0, 1); }

Tensors blocks(const Tensor& x, int count) { return split(x, std::vector<int64_t>(count, x.dim(-1) / count), -1); }

/// Row `i` of a (2, n) bias.
Tensor row(const Tensor& x, int i) { return squeeze(slice_axis(x, 0, i, i + 1), 0); }

/// x^T . y over all steps and samples: (b, t, m), (b, t, n) -> (m, n).
Tensor weight_gradient(const Tensor& x, const Tensor& y) {
  return matmul(reshape(x, {-1, x.dim(-1)}), reshape(y, {-1, y.dim(-1)}), true, false);
}

Tensor sum_steps(const Tensor& x) { return sum(x, {0, 1}); }

/// The state before each step: first, then all but the last.
Tensor previous(const Tensor& first, const Tensor& states) {
  const Tensor parts[] = {expand_dims(first, 1), slice_axis(states, 1, 0, states.dim(1) - 1)};
  return concatenate(parts, 1);
}

Tensor or_zeros(const Tensor& gradient, const Tensor& like) { return gradient ? gradient : zeros_like(like); }

void check(const TensorSpec& input, const Shape& wanted, const char* op, const char* what) {
  if (!input.shape.compatible(wanted)) fail(op, ": expected ", what, " of shape ", wanted, ", got ", input.shape);
}

struct Sizes {
  int64_t batch, time, features, units;
};

Sizes sizes_of(std::span<const TensorSpec> inputs, const char* op) {
  if (inputs[0].shape.rank() != 3) fail(op, ": expected an input of shape (batch, time, features), got ", inputs[0].shape);
  if (inputs[1].shape.rank() != 2) fail(op, ": expected a state of shape (batch, units), got ", inputs[1].shape);
  const Shape& x = inputs[0].shape;
  return {x[0], x[1], x[2], inputs[1].shape[1]};
}

}  // namespace

// ---- LSTM -----------------------------------------------------------------------------------------------------

TensorSpecs Lstm::infer(std::span<const TensorSpec> inputs) const {
  const Sizes s = sizes_of(inputs, "lstm");
  check(inputs[1], {s.batch, s.units}, "lstm", "a state");
  check(inputs[2], {s.batch, s.units}, "lstm", "a cell state");
  check(inputs[3], {s.features, 4 * s.units}, "lstm", "a kernel");
  check(inputs[4], {s.units, 4 * s.units}, "lstm", "a recurrent kernel");
  check(inputs[5], {4 * s.units}, "lstm", "a bias");
  const DType dtype = inputs[0].dtype;
  const Shape steps{s.batch, s.time, s.units}, last{s.batch, s.units};
  return {{dtype, steps}, {dtype, last}, {dtype, last}, {dtype, {s.batch, s.time, 4 * s.units}}, {dtype, steps}};
}

Tensors Lstm::decompose(std::span<const Tensor> inputs) const {
  const Tensor &kernel = inputs[3], &recurrent = inputs[4], &bias = inputs[5];
  const ScanResult r = scan(
      [&](const Tensors& before, const Tensors& step) {
        const Tensors z = blocks(step[0] + matmul(before[0], recurrent), 4);
        const Tensor i = sigmoid(z[0]), f = sigmoid(z[1]), g = tanh(z[2]), o = sigmoid(z[3]);
        const Tensor c = f * before[1] + i * g, h = o * tanh(c);
        const Tensor gates[] = {i, f, g, o};
        return ScanResult{{h, c}, {h, concatenate(gates, -1), c}};
      },
      {inputs[1], inputs[2]}, {time_first(dot(inputs[0], kernel) + bias)});
  return {time_first(r.outputs[0]), r.states[0], r.states[1], time_first(r.outputs[1]), time_first(r.outputs[2])};
}

Tensors Lstm::vjp(const Vjp& v) const {
  if (v.gradients[3] || v.gradients[4]) return Op::vjp(v);
  const auto& in = v.inputs;
  return apply(LstmBackward{}, {in[0], in[1], in[2], in[3], in[4], v.outputs[0], v.outputs[3], v.outputs[4],
                                or_zeros(v.gradients[0], v.outputs[0]), or_zeros(v.gradients[1], v.outputs[1]),
                                or_zeros(v.gradients[2], v.outputs[2])});
}

TensorSpecs LstmBackward::infer(std::span<const TensorSpec> in) const {
  return {in[0], in[1], in[2], in[3], in[4], {in[0].dtype, {in[3].shape[1]}}};
}

/// Back through time: z is the gate input before activation, its gradient is what everything else follows from.
Tensors LstmBackward::decompose(std::span<const Tensor> in) const {
  const Tensor &x = in[0], &h0 = in[1], &c0 = in[2], &kernel = in[3], &recurrent = in[4], &hs = in[5], &gates = in[6], &cells = in[7];
  const ScanResult r = scan(
      [&](const Tensors& later, const Tensors& step) {
        const Tensors gate = blocks(step[0], 4);
        const Tensor &i = gate[0], &f = gate[1], &g = gate[2], &o = gate[3];
        const Tensor dh = later[0] + step[3], bent = tanh(step[1]);
        const Tensor dc = later[1] + dh * o * (1.0 - square(bent));
        const Tensor dz[] = {dc * g * i * (1.0 - i), dc * step[2] * f * (1.0 - f), dc * i * (1.0 - square(g)), dh * bent * o * (1.0 - o)};
        const Tensor all = concatenate(dz, -1);
        return ScanResult{{matmul(all, recurrent, false, true), dc * f}, {all}};
      },
      {in[9], in[10]}, {time_first(gates), time_first(cells), time_first(previous(c0, cells)), time_first(in[8])}, true);
  const Tensor dz = time_first(r.outputs[0]);
  return {matmul(dz, kernel, false, true), r.states[0], r.states[1], weight_gradient(x, dz), weight_gradient(previous(h0, hs), dz), sum_steps(dz)};
}

// ---- GRU ------------------------------------------------------------------------------------------------------

TensorSpecs Gru::infer(std::span<const TensorSpec> inputs) const {
  const Sizes s = sizes_of(inputs, "gru");
  check(inputs[1], {s.batch, s.units}, "gru", "a state");
  check(inputs[2], {s.features, 3 * s.units}, "gru", "a kernel");
  check(inputs[3], {s.units, 3 * s.units}, "gru", "a recurrent kernel");
  check(inputs[4], {2, 3 * s.units}, "gru", "a bias");
  const DType dtype = inputs[0].dtype;
  return {{dtype, {s.batch, s.time, s.units}}, {dtype, {s.batch, s.units}}, {dtype, {s.batch, s.time, 4 * s.units}}};
}

Tensors Gru::decompose(std::span<const Tensor> inputs) const {
  const Tensor &kernel = inputs[2], &recurrent = inputs[3], &bias = inputs[4];
  const ScanResult r = scan(
      [&](const Tensors& before, const Tensors& step) {
        const Tensor& h0 = before[0];
        const Tensors in = blocks(step[0], 3), rec = blocks(matmul(h0, recurrent) + row(bias, 1), 3);
        const Tensor z = sigmoid(in[0] + rec[0]), reset = sigmoid(in[1] + rec[1]), candidate = tanh(in[2] + reset * rec[2]);
        const Tensor h = z * h0 + (1.0 - z) * candidate;
        const Tensor gates[] = {z, reset, candidate, rec[2]};
        return ScanResult{{h}, {h, concatenate(gates, -1)}};
      },
      {inputs[1]}, {time_first(dot(inputs[0], kernel) + row(bias, 0))});
  return {time_first(r.outputs[0]), r.states[0], time_first(r.outputs[1])};
}

Tensors Gru::vjp(const Vjp& v) const {
  if (v.gradients[2]) return Op::vjp(v);
  const auto& in = v.inputs;
  return apply(GruBackward{}, {in[0], in[1], in[2], in[3], in[4], v.outputs[0], v.outputs[2],
                               or_zeros(v.gradients[0], v.outputs[0]), or_zeros(v.gradients[1], v.outputs[1])});
}

TensorSpecs GruBackward::infer(std::span<const TensorSpec> in) const { return {in[0], in[1], in[2], in[3], in[4]}; }

/// Inputs and state meet in the gates but not in the candidate, so their gate gradients differ in the last block.
Tensors GruBackward::decompose(std::span<const Tensor> in) const {
  const Tensor &x = in[0], &h0 = in[1], &kernel = in[2], &recurrent = in[3], &hs = in[5], &gates = in[6];
  const ScanResult r = scan(
      [&](const Tensors& later, const Tensors& step) {
        const Tensors gate = blocks(step[0], 4);
        const Tensor &z = gate[0], &reset = gate[1], &candidate = gate[2];
        const Tensor dh = later[0] + step[2];
        const Tensor da = dh * (1.0 - z) * (1.0 - square(candidate));
        const Tensor dz = dh * (step[1] - candidate) * z * (1.0 - z), dr = da * gate[3] * reset * (1.0 - reset);
        const Tensor from_input[] = {dz, dr, da}, from_state[] = {dz, dr, da * reset};
        const Tensor state = concatenate(from_state, -1);
        return ScanResult{{dh * z + matmul(state, recurrent, false, true)}, {concatenate(from_input, -1), state}};
      },
      {in[8]}, {time_first(gates), time_first(previous(h0, hs)), time_first(in[7])}, true);
  const Tensor dinput = time_first(r.outputs[0]), dstate = time_first(r.outputs[1]);
  const Tensor dbias[] = {sum_steps(dinput), sum_steps(dstate)};
  return {matmul(dinput, kernel, false, true), r.states[0], weight_gradient(x, dinput), weight_gradient(previous(h0, hs), dstate), stack(dbias, 0)};
}

// ---- functions ------------------------------------------------------------------------------------------------

ops::LstmResult ops::lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const Tensor& kernel, const Tensor& recurrent, const Tensor& bias) {
  const Tensors r = apply(Lstm{}, {x, h0, c0, kernel, recurrent, bias});
  return {r[0], r[1], r[2]};
}

ops::GruResult ops::gru(const Tensor& x, const Tensor& h0, const Tensor& kernel, const Tensor& recurrent, const Tensor& bias) {
  const Tensors r = apply(Gru{}, {x, h0, kernel, recurrent, bias});
  return {r[0], r[1]};
}

}  // namespace crescent
