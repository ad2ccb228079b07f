// Converts nodes of TensorFlow graphs in models of tf.keras 2.0 to 2.3, where a TensorFlowOpLayer
// contains the definition of a node and its constant inputs by index.
#pragma once
#include "keras/graphs/tensorflow_functions.h"

namespace crescent::keras {

inline constexpr const char* kTensorFlowNode = "TensorFlowOpLayer";

/// Converts a node to a call of the TensorFlow function that computes the same; `tensors` are its
/// inputs that are not constant.
NamedCall tensorflow_node_in(const Dict& config, const List& tensors);

}  // namespace crescent::keras
