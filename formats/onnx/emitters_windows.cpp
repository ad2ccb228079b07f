// Functions that write convolution and pooling as ONNX nodes. In ONNX images are channels first and
// kernels are (out, in/groups, spatial...).
#include "crescent/ops/ops.h"
#include "op_emitters.h"

namespace crescent::onnx {
namespace {

/// The name of the kernel of input `i`, transposed from (spatial..., in/groups, out) to (out,
/// in/groups, spatial...).
std::string onnx_kernel(Emitter& e, size_t i) {
  const auto rank = static_cast<int>(e.sizes(i).size());
  std::vector<int> axes{rank - 1, rank - 2};
  for (int axis = 0; axis + 2 < rank; ++axis) axes.push_back(axis);
  if (const Tensor constant_kernel = e.constant_input(i))
    return e.add_constant(ops::transpose(constant_kernel, axes));
  return e.add_transpose(e.input(i), {axes.begin(), axes.end()});
}

std::vector<int64_t> pads_of(const ConvSpec& spec) {
  std::vector<int64_t> pads = spec.pad_before;
  pads.insert(pads.end(), spec.pad_after.begin(), spec.pad_after.end());
  return pads;
}

/// The sizes of the spatial axes of the convolution kernel that is input `i` of the op.
std::vector<int64_t> window_of(Emitter& e, size_t i) {
  return {e.sizes(i).begin(), e.sizes(i).end() - 2};
}

Attributes window_attributes(Emitter& e, const ConvSpec& spec) {
  return {{"kernel_shape", window_of(e, 1)},
          {"strides", spec.strides},
          {"dilations", spec.dilation},
          {"pads", pads_of(spec)},
          {"group", spec.groups}};
}

void write_conv(Emitter& e, const Conv& op) {
  e.set_channels_first_output(
      e.add_node("Conv", {e.channels_first(0), onnx_kernel(e, 1)}, window_attributes(e, op.spec)));
}

/// The number of elements at the end of each axis that no window covers because of the strides.
std::vector<int64_t> output_padding(Emitter& e, const ConvSpec& spec) {
  std::vector<int64_t> result;
  const std::vector<int64_t> window = window_of(e, 1);
  for (size_t i = 0; i < window.size(); ++i) {
    if (e.sizes()[i + 1] < 0) e.refuse("an open size has no form in ONNX here");
    const int64_t covered_size = (e.sizes()[i + 1] - 1) * spec.strides[i] +
                                 (window[i] - 1) * spec.dilation[i] + 1 - spec.pad_before[i] -
                                 spec.pad_after[i];
    result.push_back(e.result_sizes()[i + 1] - covered_size);
    if (result.back() < 0 || result.back() >= std::max(spec.strides[i], spec.dilation[i]))
      e.refuse("a result of this size has no form in ONNX");
  }
  return result;
}

void write_conv_transpose(Emitter& e, const ConvBackwardData& op) {
  Attributes attributes = window_attributes(e, op.spec);
  attributes.emplace_back("output_padding", output_padding(e, op.spec));
  e.set_channels_first_output(
      e.add_node("ConvTranspose", {e.channels_first(0), onnx_kernel(e, 1)}, attributes));
}

void write_pool(Emitter& e, const Pool& op) {
  e.set_channels_first_output(e.add_node(
      op.max ? "MaxPool" : "AveragePool", {e.channels_first(0)},
      {{"kernel_shape", op.window}, {"strides", op.spec.strides}, {"pads", pads_of(op.spec)}}));
}

constexpr OpEmitter kWindowEmitters[] = {emitter_of<Conv, write_conv>(),
                                         emitter_of<ConvBackwardData, write_conv_transpose>(),
                                         emitter_of<Pool, write_pool>()};

}  // namespace

std::span<const OpEmitter> window_emitters() { return kWindowEmitters; }

}  // namespace crescent::onnx
