// Rows that belong together, by number.
#pragma once
#include <string>

#include "crescent/tensor/tensor.h"

namespace crescent {

enum class SegmentKind : uint8_t { prod, max, min };
inline std::string to_text(SegmentKind kind) {
  return kind == SegmentKind::prod ? "prod" : kind == SegmentKind::max ? "max" : "min";
}

/// Of rows of x with number i in `ids`, row i of `count`. Without any: 1 of a product, the least
/// number of the largest, the largest of the least.
Tensor segment(SegmentKind kind, const Tensor& x, const Tensor& ids, int64_t count);
/// The sum of them.
Tensor sum_of_segments(const Tensor& x, const Tensor& ids, int64_t count);

}  // namespace crescent
