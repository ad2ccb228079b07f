// Runs ONNX graphs by the definitions of the operators.
#pragma once
#include "reader.h"

namespace crescent::onnx_test {

using Values = std::map<std::string, Tensor>;

/// Fails for an undefined name and for an unknown operator. `around`: the values of the enclosing
/// graph that a body can use.
Tensors run(const Graph& graph, const Tensors& inputs, const Values& around = {});

}  // namespace crescent::onnx_test
