// A hint in error messages: a single sample was passed where a batch is expected.
#pragma once
#include <string_view>

#include "crescent/tensor/tensor.h"

namespace crescent {

inline constexpr std::string_view kBatchAxisHint =
    "; x:expand_dims(0) adds a batch axis to a single sample";

/// The end of a message about an input: how to add the batch axis, if `input_shape` fits
/// `expected_shape` without its batch axis; else "".
inline std::string_view batch_axis_hint(const Shape& input_shape, const Shape& expected_shape) {
  const bool lacks_batch_axis = input_shape.rank() + 1 == expected_shape.rank();
  return lacks_batch_axis && input_shape.compatible(expected_shape.slice(1, expected_shape.rank()))
             ? kBatchAxisHint
             : "";
}

}  // namespace crescent
