// Calls of TensorFlow functions in graphs of tf.keras. In 2.4 to 2.15 "x * 2.0" is a layer of the
// class TFOpLambda with the function "math.multiply", and its node has the other arguments by name.
// In 2.0 to 2.3 a TensorFlowOpLayer contains a node of a TensorFlow graph. In Crescent each is an
// OperationLayer.
#pragma once
#include <map>
#include <string>

#include "crescent/base/value.h"

namespace crescent::keras {

bool is_tensorflow_call(const Dict& entry);

/// Converts calls of TensorFlow functions to entries of OperationLayers, and returns these by the
/// name of the layer. Calls whose results neither `outputs` nor other layers need are left out:
/// they compute sizes from shapes, which Crescent knows when it builds the model.
std::map<std::string, Dict> tensorflow_calls_in(const List& layers, const List& outputs);

/// Adds the loss or metric of an entry of the class AddLoss or AddMetric to those of the graph;
/// returns false for other entries.
bool add_loss_or_metric(const Dict& entry, Dict& graph);

}  // namespace crescent::keras
