// Constant tensors in the configuration of a graph, as arguments of calls and operations.
#pragma once
#include <optional>

#include "crescent/ops/ops.h"

namespace crescent {

/// Encodes a tensor as Keras 3 does: {"class_name": "__tensor__", "config": {"value": ..., "dtype":
/// ...}}.
Value encode_constant(const Tensor& tensor);

/// Decodes a result of encode_constant(), or an array of NumPy as Keras writes it ("__numpy__"), to
/// a boxed tensor; returns nullopt for other values.
std::optional<Value> decode_constant(const Value& value);

}  // namespace crescent
