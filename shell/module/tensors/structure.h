// Nested tables that contain tensors: collecting these tensors, and replacing them.
#pragma once
#include "crescent/base/mapped.h"
#include "crescent/layer/layer.h"

namespace crescent::lua {

/// The tensor for a value: the value of a variable, or a tensor made of a number or of nested lists
/// of numbers. Fails for a symbol of a graph.
inline Tensor tensor_in(const Value& value) {
  if (value.object_as<BoxedSymbol>())
    fail("expected a tensor, got a symbol of a graph, which has no values: call the function in a ",
         "layer, such as cr.layers.Lambda(function(x) ... end)");
  const auto variable = value.object_as<BoxedVariable>();
  return variable ? variable->variable.value() : Codec<Tensor>::decode(value);
}

/// The tensors in a nested value, in order; numbers, booleans and variables are converted to
/// tensors.
inline Tensors tensors_in(const Value& structure) {
  Tensors tensors;
  mapped(structure, [&](const Value& value) -> std::optional<Value> {
    if (value.is_list() || value.is_dict() || value.is_null()) return std::nullopt;
    tensors.push_back(tensor_in(value));
    return value;
  });
  return tensors;
}

/// The value with its tensors replaced by the given ones, in order.
inline Value with_tensors(const Value& structure, std::span<const Tensor> tensors) {
  size_t next_index = 0;
  return mapped(structure, [&](const Value& value) -> std::optional<Value> {
    if (value.is_list() || value.is_dict() || value.is_null()) return std::nullopt;
    return Codec<Tensor>::encode(tensors[next_index++]);
  });
}

}  // namespace crescent::lua
