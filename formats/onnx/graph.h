// An ONNX graph: nodes in order of execution, constants, inputs and outputs, all by name.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "crescent/tensor/tensor.h"
#include "message.h"

namespace crescent::onnx {

using Names = std::vector<std::string>;
/// Sizes of axes. A negative number is the code of a symbolic size (SymbolicSize).
using Sizes = std::vector<int64_t>;

/// The largest number of leading input axes that may have a dynamic size; the first is the batch.
inline constexpr int kMaxDynamicAxes = 4;

/// A symbolic size: factor * (the product of the sizes of the dynamic axes in `axes`) + addend.
struct SymbolicSize {
  int64_t factor = 1, addend = 0;
  int axes = 0;  ///< a bit mask: bit i is set if dynamic axis i is a factor of the product
};
int64_t code_of(const SymbolicSize& size);
SymbolicSize symbolic_size(int64_t code);
/// The size as text: "batch", "2*batch*size1", "size1-2".
std::string text_of(const SymbolicSize& size);

struct Graph;
using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::shared_ptr<const Graph>>;
using Attributes = std::vector<std::pair<std::string, Attribute>>;

struct Node {
  std::string type;
  Names inputs, outputs;  ///< "": an omitted input
  Attributes attributes;
};

/// An input or output of the graph.
struct GraphTensor {
  std::string name;
  DType dtype;
  Sizes sizes;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, Tensor>> constants;
  std::vector<GraphTensor> inputs, outputs;
};

/// The number that ONNX uses for a dtype.
int64_t number_of(DType dtype);
/// The content of an ONNX file with this graph.
Message model_message(const Graph& graph);

}  // namespace crescent::onnx
