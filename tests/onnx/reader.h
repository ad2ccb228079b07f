// Reads ONNX files with a small protobuf parser that does not share code with the writer. Field
// numbers are those of onnx.proto; unknown fields fail the test.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent::onnx_test {

struct Graph;

struct Attribute {
  int64_t integer = 0;
  float real = 0;
  std::vector<int64_t> integers;
  std::shared_ptr<Graph> graph;
};

struct Node {
  std::string type;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute> attributes;
  /// The value of the attribute; `default_value` if it is missing.
  int64_t integer(const std::string& name, int64_t default_value) const;
  std::vector<int64_t> integers(const std::string& name,
                                std::vector<int64_t> default_value = {}) const;
};

struct ValueInfo {
  std::string name;
  DType dtype{};
  std::vector<std::string> dims;  ///< "3", "batch"
};

struct Graph {
  std::vector<Node> nodes;
  std::map<std::string, Tensor> constants;
  std::vector<ValueInfo> inputs, outputs;
};

struct File {
  int64_t ir_version = 0, opset = 0;
  Graph graph;
};

File read_onnx(const std::string& path);
DType dtype_numbered(int64_t number);

}  // namespace crescent::onnx_test
