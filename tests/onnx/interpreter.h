// Runs ONNX graphs by the definitions of their operators.
#pragma once
#include "reader.h"

namespace crescent::onnx_test {

using Values = std::map<std::string, Tensor>;

/// Fails at a name that no earlier node has produced, and at an unknown type of node. `around`: the
/// values of the enclosing graph that a body can use.
Tensors run(const Graph& graph, const Tensors& inputs, const Values& around = {});

}  // namespace crescent::onnx_test
