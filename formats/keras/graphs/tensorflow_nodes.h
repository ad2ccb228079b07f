// Nodes of TensorFlow's graph in models of tf.keras 2.0 to 2.3: a TensorFlowOpLayer holds a node's
// definition, and the inputs that are constant by their places.
#pragma once
#include "keras/graphs/tensorflow_functions.h"

namespace crescent::keras {

inline constexpr const char* kTensorFlowNode = "TensorFlowOpLayer";

/// The node as a call of the function that makes such nodes; `tensors` are its other inputs.
NamedCall tensorflow_node_in(const Dict& config, const List& tensors);

}  // namespace crescent::keras
