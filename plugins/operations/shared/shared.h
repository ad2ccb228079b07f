// Functions that the tables of operations use to convert arguments.
#pragma once
#include <cctype>

#include "crescent/layer/operation.h"
#include "crescent/ops/arguments.h"
#include "crescent/program/program.h"

namespace crescent::operations {

using ops::at_least_int32, ops::axes_of, ops::axis_of, ops::checked_count, ops::flat_without,
    ops::floating, ops::for_each_axis, ops::in_wide, ops::number_like, ops::Operand, ops::positions,
    ops::promoted, ops::tensor_of, ops::wide_floating;

/// The shape of a new tensor. Sizes may only be unknown (-1) while a program is traced.
inline const Shape& checked_shape(const Shape& shape) {
  if (!shape.is_known() && !is_tracing())
    fail("argument 'shape': expected the size of every axis, got ",
         Value(List(shape.begin(), shape.end())), "; -1 is for reshape only");
  return shape;
}

/// The text in lower case: Keras reads padding and data_format without regard to case.
inline std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The value of the argument data_format of a call; channels_last if the argument is missing.
using Format = std::optional<std::string>;
inline ops::DataFormat format_named(const Format& format) {
  const std::string name = in_lower_case(format.value_or("channels_last"));
  if (name == "channels_last") return ops::DataFormat::channels_last;
  if (name == "channels_first") return ops::DataFormat::channels_first;
  fail("data_format must be 'channels_last' or 'channels_first', got '", *format, "'");
}

}  // namespace crescent::operations
