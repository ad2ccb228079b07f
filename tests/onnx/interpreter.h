// Runs ONNX graphs according to the definitions of their operators.
#pragma once
#include "reader.h"

namespace crescent::onnx_test {

using Values = std::map<std::string, Tensor>;

/// Runs a graph. Fails for a name that no earlier node has produced, and for an unknown type of
/// node. `enclosing_values` has the values of the enclosing graph that a body can use.
Tensors run(const Graph& graph, const Tensors& inputs, const Values& enclosing_values = {});

}  // namespace crescent::onnx_test
