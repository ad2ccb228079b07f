// The hint for a single sample that is passed where a batch is expected.
#pragma once
#include <string_view>

#include "crescent/tensor/tensor.h"

namespace crescent {

inline constexpr std::string_view kBatchAxisHint =
    "; x:expand_dims(0) adds a batch axis to a single sample";

/// The end of a message about an input of shape `found`: how to add the batch axis if the rest of
/// the shape is as `wanted`, else "".
inline std::string_view batch_axis_hint(const Shape& found, const Shape& wanted) {
  const bool lacks_batch_axis = found.rank() + 1 == wanted.rank();
  return lacks_batch_axis && found.compatible(wanted.slice(1, wanted.rank())) ? kBatchAxisHint : "";
}

}  // namespace crescent
