// Converts the edges of a graph, as Keras 2 and Keras 3 write them, to one form: every call of a
// layer is a list of [layer, node, tensor, arguments] with nodes counted from 0.
#pragma once
#include "crescent/registry/registry.h"

namespace crescent::keras {

/// The list [layer, node, tensor] in a tensor as Keras 3 writes it, {"class_name":
/// "__keras_tensor__", "config": {"keras_history": ["dense_1", 0, 0], ...}}; null for other values.
const Value* keras_tensor_history(const Value& value);

/// Converts an entry of inbound_nodes of a layer to Crescent's form; `layer` is null for an unknown
/// class.
Value call_in(const Value& node, const ClassInfo* layer);

/// Converts input_layers or output_layers, a reference or a nested structure of references, to a
/// list.
List references_in(const Value& endpoints);
/// The nested structure (structure.h) of input_layers or output_layers.
Value structure_in(const Value& endpoints);

}  // namespace crescent::keras
