// Writes a graph as an ONNX file. Field numbers are those of onnx.proto.
#include "graph.h"

#include "crescent/plugin.h"

namespace crescent::onnx {
namespace {

constexpr int64_t kIrVersion = 8, kOpset = 17;

Message attribute_message(const std::string& name, const Attribute& attribute);
Message graph_message(const Graph& graph);

Message node_message(const Node& node) {
  Message message;
  for (const std::string& name : node.inputs) message.text(1, name);
  for (const std::string& name : node.outputs) message.text(2, name);
  message.text(3, node.outputs.front()).text(4, node.type);
  for (const auto& [name, value] : node.attributes)
    message.message(5, attribute_message(name, value));
  return message;
}

/// Writes the value of an attribute and the number of its type.
struct AttributeWriter {
  Message& message;
  void operator()(int64_t value) { message.integer(3, value).integer(20, 2); }
  void operator()(float value) { message.real(2, value).integer(20, 1); }
  void operator()(const std::string& value) { message.text(4, value).integer(20, 3); }
  void operator()(const std::vector<int64_t>& values) {
    message.integers(8, values).integer(20, 7);
  }
  void operator()(const std::shared_ptr<const Graph>& graph) {
    message.message(6, graph_message(*graph)).integer(20, 5);
  }
};

Message attribute_message(const std::string& name, const Attribute& attribute) {
  Message message;
  message.text(1, name);
  std::visit(AttributeWriter{message}, attribute);
  return message;
}

Message tensor_message(const std::string& name, const Tensor& tensor) {
  if (tensor.dtype() == DType::string) fail("constants of strings are not written as ONNX");
  Message message;
  message.integers(1, {tensor.shape().begin(), tensor.shape().end()});
  message.integer(2, number_of(tensor.dtype())).text(8, name);
  const char* bytes = tensor.bytes() ? static_cast<const char*>(tensor.raw()) : "";
  return message.text(9, {bytes, tensor.bytes()});
}

Message value_info_message(const GraphTensor& graph_tensor) {
  Message shape;
  for (int64_t size : graph_tensor.sizes) {
    Message dim;
    if (size >= 0)
      dim.integer(1, size);
    else
      dim.text(2, text_of(symbolic_size(size)));
    shape.message(1, dim);
  }
  Message tensor, type, message;
  tensor.integer(1, number_of(graph_tensor.dtype)).message(2, shape);
  type.message(1, tensor);
  return message.text(1, graph_tensor.name).message(2, type);
}

Message graph_message(const Graph& graph) {
  Message message;
  for (const Node& node : graph.nodes) message.message(1, node_message(node));
  message.text(2, graph.name);
  for (const auto& [name, tensor] : graph.constants)
    message.message(5, tensor_message(name, tensor));
  for (const GraphTensor& graph_tensor : graph.inputs)
    message.message(11, value_info_message(graph_tensor));
  for (const GraphTensor& graph_tensor : graph.outputs)
    message.message(12, value_info_message(graph_tensor));
  return message;
}

}  // namespace

namespace {

constexpr int kAddendBits = 24;
constexpr int64_t kAddendZero = int64_t{1} << (kAddendBits - 1), kAddendMask = 2 * kAddendZero - 1;

}  // namespace

int64_t code_of(const SymbolicSize& size) {
  return -((size.factor << kAddendBits | (size.addend + kAddendZero)) << kMaxDynamicAxes |
           size.axes);
}

SymbolicSize symbolic_size(int64_t code) {
  const int64_t numbers = -code >> kMaxDynamicAxes;
  return {numbers >> kAddendBits, (numbers & kAddendMask) - kAddendZero,
          static_cast<int>(-code & ((1 << kMaxDynamicAxes) - 1))};
}

std::string text_of(const SymbolicSize& size) {
  std::string text = size.factor == 1 ? "" : concat(size.factor);
  for (int axis = 0; axis < kMaxDynamicAxes; ++axis)
    if (size.axes >> axis & 1)
      text += concat(text.empty() ? "" : "*", axis == 0 ? "batch" : concat("size", axis));
  if (size.addend != 0) text += concat(size.addend > 0 ? "+" : "", size.addend);
  return text;
}

int64_t number_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return 1;
    case DType::float64:
      return 11;
    case DType::bfloat16:
      return 16;
    case DType::float16:
      return 10;
    case DType::int32:
      return 6;
    case DType::int64:
      return 7;
    case DType::uint8:
      return 2;
    case DType::boolean:
      return 9;
    case DType::int8:
      return 3;
    case DType::int16:
      return 5;
    case DType::complex64:
      return 14;
    case DType::string:
      return 8;
  }
  return 0;
}

Message model_message(const Graph& graph) {
  Message opset, model;
  opset.text(1, "").integer(2, kOpset);
  model.integer(1, kIrVersion).text(2, "crescent").text(3, CRESCENT_VERSION);
  return model.message(7, graph_message(graph)).message(8, opset);
}

}  // namespace crescent::onnx
