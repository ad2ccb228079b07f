// What rows read beside the functions of ops.
#pragma once
#include "crescent/layer/operation.h"
#include "crescent/ops/arguments.h"

namespace crescent::operations {

using ops::at_least_int32, ops::axes_of, ops::axis_of, ops::checked_count, ops::flat_without,
    ops::floating, ops::for_each_axis, ops::in_wide, ops::number_like, ops::Operand, ops::positions,
    ops::promoted, ops::tensor_of, ops::wide_floating;

/// A data_format, channels_last where it is not given.
using Format = std::optional<std::string>;
inline bool channels_first(const Format& format) {
  if (!format || *format == "channels_last") return false;
  if (*format == "channels_first") return true;
  fail("data_format must be 'channels_last' or 'channels_first', got '", *format, "'");
}

}  // namespace crescent::operations
