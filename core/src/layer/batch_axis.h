// A hint for error messages: how to call a model on a single sample where it expects a batch.
#pragma once
#include <string_view>

#include "crescent/tensor/tensor.h"

namespace crescent {

inline constexpr std::string_view kBatchAxisHint =
    "; x:expand_dims(0) adds a batch axis to a single sample";

/// Returns the end of an error message about an input, which says how to add the batch axis.
/// Returns "" unless `input_shape` is compatible with `expected_shape` without its batch axis.
inline std::string_view batch_axis_hint(const Shape& input_shape, const Shape& expected_shape) {
  const bool lacks_batch_axis = input_shape.rank() + 1 == expected_shape.rank();
  return lacks_batch_axis && input_shape.compatible(expected_shape.slice(1, expected_shape.rank()))
             ? kBatchAxisHint
             : "";
}

}  // namespace crescent
