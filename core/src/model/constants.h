// Constant tensors in the configuration of a graph, as arguments of calls and operations.
#pragma once
#include <optional>

#include "crescent/ops/ops.h"

namespace crescent {

/// Encodes a tensor as Keras 3 does: {"class_name": "__tensor__", "config": {"value": ..., "dtype":
/// ...}}.
Value constant_out(const Tensor& tensor);

/// Decodes the form of constant_out() or an array of NumPy ("__numpy__") to a boxed tensor; returns
/// nullopt for other values.
std::optional<Value> constant_in(const Value& value);

}  // namespace crescent
