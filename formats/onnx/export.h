// Conversion of the prediction of a model to an ONNX graph.
#pragma once
#include "crescent/model/model.h"
#include "graph.h"

namespace crescent::onnx {

/// Converts the model. Fails, naming layer and op, if an op has no form in ONNX.
Graph graph_of(Model& model);

}  // namespace crescent::onnx
