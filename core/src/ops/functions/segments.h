// Reductions of rows with equal ids.
#pragma once
#include <string>

#include "crescent/tensor/tensor.h"

namespace crescent {

enum class SegmentKind : uint8_t { prod, max, min };
inline std::string to_text(SegmentKind kind) {
  return kind == SegmentKind::prod ? "prod" : kind == SegmentKind::max ? "max" : "min";
}

/// Row i of the `count` rows is the reduction of the rows of x whose id is i. An empty segment
/// gives the neutral element: 1 for products, the lowest number for max, the largest for min.
Tensor segment(SegmentKind kind, const Tensor& x, const Tensor& ids, int64_t count);
/// As segment(), for sums.
Tensor sum_of_segments(const Tensor& x, const Tensor& ids, int64_t count);

}  // namespace crescent
