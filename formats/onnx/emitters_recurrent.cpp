// Functions that write recurrent ops as ONNX nodes. In ONNX, time is the first axis, and an
// additional axis holds the directions.
#include "crescent/ops/ops.h"
#include "op_emitters.h"

namespace crescent::onnx {
namespace {

std::string add_squeeze(Emitter& e, const std::string& x, int64_t axis) {
  return e.add_node("Squeeze", {x, e.add_integers({axis})});
}

std::string add_unsqueeze(Emitter& e, const std::string& x, int64_t axis) {
  return e.add_node("Unsqueeze", {x, e.add_integers({axis})});
}

Tensor constant_input(Emitter& e, size_t i) {
  const Tensor numbers = e.constant_input(i);
  if (!numbers) e.refuse("weights that are computed from inputs have no form in ONNX");
  return numbers;
}

/// Reorders the gates, which are blocks of the last axis of x: block i of the result is block
/// gates[i].
Tensor reorder_gates(const Tensor& x, const std::vector<int>& gates) {
  const auto count = static_cast<int64_t>(gates.size()), units = x.dim(-1) / count;
  Tensors blocks;
  for (int gate : gates) blocks.push_back(ops::slice_axis(x, -1, gate * units, (gate + 1) * units));
  return ops::concatenate(blocks, -1);
}

/// The name of a constant: the kernel (in, gates * units) of input `i` as (1, gates * units, in),
/// with the gates reordered.
std::string kernel_constant(Emitter& e, size_t i, const std::vector<int>& gates) {
  return e.add_constant(
      ops::expand_dims(ops::transpose(reorder_gates(constant_input(e, i), gates)), 0));
}

/// The name of an initial state; "" if it is zero, which ONNX assumes.
std::string initial_state(Emitter& e, size_t i) {
  return e.is_zero(i) ? "" : add_unsqueeze(e, e.input(i), 0);
}

void set_results(Emitter& e, const Names& results) {
  if (e.is_read(0)) e.set_output(e.add_transpose(add_squeeze(e, results[0], 1), {1, 0, 2}));
  for (size_t i = 1; i < results.size(); ++i)
    if (e.is_read(i)) e.set_output(add_squeeze(e, results[i], 0), i);
}

void write_lstm(Emitter& e, const Lstm&) {
  // the gates in the order of ONNX: input, output, forget, cell
  const std::vector<int> gates{0, 3, 1, 2};
  const Tensor bias = reorder_gates(constant_input(e, 5), gates);
  const Tensor biases[] = {bias, ops::zeros_like(bias)};
  const int64_t units = e.sizes(4)[0];
  set_results(e, e.add_nodes("LSTM",
                             {e.add_transpose(e.input(0), {1, 0, 2}), kernel_constant(e, 3, gates),
                              kernel_constant(e, 4, gates),
                              e.add_constant(ops::expand_dims(ops::concatenate(biases, 0), 0)), "",
                              initial_state(e, 1), initial_state(e, 2)},
                             3, {{"hidden_size", units}}));
}

void write_gru(Emitter& e, const Gru&) {
  const std::vector<int> gates{0, 1, 2};
  const int64_t units = e.sizes(3)[0];
  set_results(e, e.add_nodes("GRU",
                             {e.add_transpose(e.input(0), {1, 0, 2}), kernel_constant(e, 2, gates),
                              kernel_constant(e, 3, gates),
                              e.add_constant(ops::reshape(constant_input(e, 4), {1, 6 * units})),
                              "", initial_state(e, 1)},
                             2, {{"hidden_size", units}, {"linear_before_reset", int64_t{1}}}));
}

void write_scan(Emitter& e, const Scan& op) {
  if (op.sequences == 0 || op.keep_states) e.refuse("a loop without sequences has no form in ONNX");
  Names inputs;
  for (int i = 0; i < op.states + op.sequences; ++i) inputs.push_back(e.input(i));
  const std::shared_ptr<const Graph> body = e.body(op);
  const auto states = static_cast<size_t>(op.states);
  const std::vector<int64_t> input_directions(op.sequences, op.reverse),
      output_directions(body->outputs.size() - states, op.reverse);
  Attributes attributes{{"body", body}, {"num_scan_inputs", int64_t{op.sequences}}};
  if (op.reverse) {
    attributes.emplace_back("scan_input_directions", input_directions);
    if (!output_directions.empty())
      attributes.emplace_back("scan_output_directions", output_directions);
  }
  const Names results = e.add_nodes("Scan", inputs, body->outputs.size(), attributes);
  for (size_t o = 0; o < results.size(); ++o) e.set_output(results[o], o);
}

constexpr OpEmitter kRecurrentEmitters[] = {
    emitter_of<Lstm, write_lstm>(), emitter_of<Gru, write_gru>(), emitter_of<Scan, write_scan>()};

}  // namespace

std::span<const OpEmitter> recurrent_emitters() { return kRecurrentEmitters; }

}  // namespace crescent::onnx
