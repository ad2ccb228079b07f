// The edges of a graph as Keras 2 and Keras 3 write them, in one form: every call of a layer is a
// list of [layer, node, tensor, arguments], and nodes count from 0.
#pragma once
#include "crescent/registry/registry.h"

namespace crescent::keras {

/// [layer, node, tensor] of a tensor as Keras 3 writes it, {"class_name": "__keras_tensor__",
/// "config": {"keras_history": ["dense_1", 0, 0], ...}}; null when the value is none.
const Value* keras_tensor_history(const Value& value);

/// One entry of inbound_nodes, of a layer of this class; null: of an unknown one.
Value call_in(const Value& node, const ClassInfo* layer);

/// input_layers and output_layers: one reference, a list or any nest of them -> a list.
List references_in(const Value& ends);
/// How the references in such a value are nested (structure.h).
Value structure_in(const Value& ends);

/// Keras 2 counts calls of a model inside a model from 1, Keras 3 from 0. Which one it is shows in
/// the numbers: of n calls, all are used, so the highest number is n or n - 1. `layers` are entries
/// with converted inbound_nodes.
void count_nested_from_zero(List& layers, List& outputs);

}  // namespace crescent::keras
