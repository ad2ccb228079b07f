// Reductions of rows by segment id.
#pragma once
#include <string>

#include "crescent/tensor/tensor.h"

namespace crescent {

enum class SegmentKind : uint8_t { prod, max, min };
inline std::string to_text(SegmentKind kind) {
  return kind == SegmentKind::prod ? "prod" : kind == SegmentKind::max ? "max" : "min";
}

/// Returns `count` rows: row i is the reduction of the rows of x whose id is i. For an id without
/// rows, it is 1 for a product, the lowest number of the dtype for a maximum and the highest for a
/// minimum.
Tensor segment(SegmentKind kind, const Tensor& x, const Tensor& ids, int64_t count);
/// The sums of the rows with each id; rows whose id is out of range are left out.
Tensor sum_of_segments(const Tensor& x, const Tensor& ids, int64_t count);
/// The sums of the rows with each id. No id may be out of range; this is not checked.
Tensor sum_of_valid_segments(const Tensor& x, const Tensor& ids, int64_t count);

}  // namespace crescent
