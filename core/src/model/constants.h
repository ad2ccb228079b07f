// Tensors that stand in the configuration of a graph, as arguments of calls and operations.
#pragma once
#include <optional>

#include "crescent/ops/ops.h"

namespace crescent {

/// As Keras 3 writes it: {"class_name": "__tensor__", "config": {"value": ..., "dtype": ...}}.
Value constant_out(const Tensor& tensor);

/// The tensor, boxed, of that or of an array of NumPy ("__numpy__"); nothing where it is neither.
std::optional<Value> constant_in(const Value& value);

}  // namespace crescent
