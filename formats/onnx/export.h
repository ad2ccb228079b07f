// A model's prediction as a graph of ONNX.
#pragma once
#include "crescent/model/model.h"
#include "graph.h"

namespace crescent::onnx {

/// Fails naming the layer and the op that have no form in ONNX.
Graph graph_of(Model& model);

}  // namespace crescent::onnx
