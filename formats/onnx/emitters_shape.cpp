// Functions that write ops that move values (reshaping, slicing, gathering) as ONNX nodes.
#include <algorithm>
#include <limits>
#include <numeric>

#include "op_emitters.h"

namespace crescent::onnx {
namespace {

/// If a single size is symbolic, it is written as -1, which ONNX infers from the other sizes.
void write_reshape(Emitter& e, const Reshape&) {
  Sizes sizes = e.result_sizes();
  const bool is_empty = std::count(sizes.begin(), sizes.end(), 0) > 0;
  if (!is_empty &&
      std::count_if(sizes.begin(), sizes.end(), [](int64_t s) { return s < 0; }) == 1) {
    for (int64_t& size : sizes) size = std::max<int64_t>(size, -1);
    return e.set_output(e.add_node("Reshape", {e.input(0), e.add_integers(sizes)}));
  }
  e.set_output(
      e.add_node("Reshape", {e.input(0), e.shape(sizes)}, {{"allowzero", int64_t{is_empty}}}));
}

/// Expand of ONNX keeps an axis for which the given shape has size 1, so unchanged sizes are
/// written as 1.
void write_broadcast(Emitter& e, const BroadcastTo&) {
  const Sizes& input_sizes = e.sizes();
  Sizes output_sizes = e.result_sizes();
  for (size_t from_end = 1; from_end <= input_sizes.size(); ++from_end)
    if (output_sizes[output_sizes.size() - from_end] == input_sizes[input_sizes.size() - from_end])
      output_sizes[output_sizes.size() - from_end] = 1;
  e.set_output(e.add_node("Expand", {e.input(0), e.shape(output_sizes)}));
}

void write_transpose(Emitter& e, const Transpose& op) {
  e.set_output(e.add_transpose(e.input(0), {op.axes.begin(), op.axes.end()}));
}

void write_concat(Emitter& e, const Concat& op) {
  const auto [inputs, is_channels_first] = e.inputs_in_one_layout();
  const int64_t rank = e.spec().shape.rank();
  const int64_t onnx_axis = op.axis == 0 ? 0 : op.axis == rank - 1 ? 1 : op.axis + 1;
  e.set_result(e.add_node("Concat", inputs, {{"axis", is_channels_first ? onnx_axis : op.axis}}),
               is_channels_first);
}

void write_slice(Emitter& e, const Slice& op) {
  constexpr int64_t kToTheEnd = std::numeric_limits<int32_t>::max();
  std::vector<int64_t> axes, starts, ends, steps;
  for (size_t i = 0; i < op.start.size(); ++i) {
    const int64_t size = e.result_sizes()[i];
    if (size == e.sizes()[i] && op.start[i] == 0) continue;
    axes.push_back(static_cast<int64_t>(i));
    const int64_t axis_size = e.spec().shape[static_cast<int>(i)],
                  start = e.is_from_end(i) ? op.start[i] - axis_size : op.start[i],
                  end = size == 0 ? start : start + (size - 1) * op.stride[i] + 1;
    starts.push_back(start);
    ends.push_back(e.is_from_end(i) && end == 0 ? kToTheEnd : end);
    steps.push_back(op.stride[i]);
  }
  if (axes.empty()) return e.set_output(e.input(0));
  e.set_output(e.add_node("Slice", {e.input(0), e.add_integers(starts), e.add_integers(ends),
                                    e.add_integers(axes), e.add_integers(steps)}));
}

void write_pad(Emitter& e, const Pad& op) {
  for (int64_t zero_count : op.inner)
    if (zero_count != 0) e.refuse("zeros between elements have no form in ONNX");
  std::vector<int64_t> pads = op.before;
  pads.insert(pads.end(), op.after.begin(), op.after.end());
  e.set_output(e.add_node(
      "Pad", {e.input(0), e.add_integers(pads), e.add_number(op.value, e.spec().dtype)}));
}

void write_reverse(Emitter& e, const Reverse& op) {
  std::vector<int64_t> axes;
  for (int axis : op.axes) axes.push_back(e.spec().shape.axis(axis));
  if (axes.empty()) return e.set_output(e.input(0));
  const size_t n = axes.size();
  const std::vector<int64_t> minus_ones(n, -1), lowest(n, std::numeric_limits<int64_t>::min());
  e.set_output(e.add_node("Slice", {e.input(0), e.add_integers(minus_ones), e.add_integers(lowest),
                                    e.add_integers(axes), e.add_integers(minus_ones)}));
}

void write_gather(Emitter& e, const Gather& op) {
  const int64_t axis = e.spec().shape.axis(op.axis);
  e.set_output(e.add_node("Gather", {e.input(0), e.input(1)}, {{"axis", axis}}));
}

void write_take_along(Emitter& e, const TakeAlong& op) {
  const int64_t axis = e.spec().shape.axis(op.axis);
  e.set_output(e.add_node("GatherElements", {e.input(0), e.input(1)}, {{"axis", axis}}));
}

/// Compares each index with 0, 1, ..., depth - 1, so that an index out of range gives a row of
/// zeros.
void write_one_hot(Emitter& e, const OneHot& op) {
  std::vector<int64_t> classes(op.depth);
  std::iota(classes.begin(), classes.end(), 0);
  const std::string index = e.add_node("Cast", {e.input(0)}, {{"to", number_of(DType::int64)}});
  const std::string column = e.add_node("Unsqueeze", {index, e.add_integers({-1})});
  const std::string equal = e.add_node("Equal", {column, e.add_integers(classes)});
  e.set_output(e.add_node("Cast", {equal}, {{"to", number_of(op.dtype)}}));
}

/// The name of an input of a matrix product, with its last two axes transposed if `transpose` is
/// true.
std::string matrix_operand(Emitter& e, size_t i, bool transpose) {
  if (!transpose) return e.input(i);
  std::vector<int64_t> axes(e.sizes(i).size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return e.add_transpose(e.input(i), axes);
}

void write_matmul(Emitter& e, const Matmul& op) {
  e.set_output(e.add_node(
      "MatMul", {matrix_operand(e, 0, op.transpose_a), matrix_operand(e, 1, op.transpose_b)}));
}

void write_stop(Emitter& e, const StopGradient&) { e.set_output(e.input(0)); }

constexpr OpEmitter kShapeEmitters[] = {
    emitter_of<Reshape, write_reshape>(),      emitter_of<BroadcastTo, write_broadcast>(),
    emitter_of<Transpose, write_transpose>(),  emitter_of<Concat, write_concat>(),
    emitter_of<Slice, write_slice>(),          emitter_of<Pad, write_pad>(),
    emitter_of<Reverse, write_reverse>(),      emitter_of<Gather, write_gather>(),
    emitter_of<TakeAlong, write_take_along>(), emitter_of<OneHot, write_one_hot>(),
    emitter_of<Matmul, write_matmul>(),        emitter_of<StopGradient, write_stop>(),
};

}  // namespace

std::span<const OpEmitter> shape_emitters() { return kShapeEmitters; }

}  // namespace crescent::onnx
