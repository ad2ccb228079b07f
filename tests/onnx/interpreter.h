// Runs graphs of ONNX by its operators' definitions, for tests.
#pragma once
#include "reader.h"

namespace crescent::onnx_test {

using Values = std::map<std::string, Tensor>;

/// Fails at a name that nothing before has made, and at a type of node that it does not know.
/// `around`: what a body sees of the graph that it is in.
Tensors run(const Graph& graph, const Tensors& inputs, const Values& around = {});

}  // namespace crescent::onnx_test
