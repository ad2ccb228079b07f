// Reductions of the rows with the same segment number.
#include "crescent/ops/indexing.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

/// `sorted` allows an optimization that is not needed here.
template <Tensor (*F)(const Tensor&, const Tensor&, std::optional<int64_t>)>
Tensor any_order(const Tensor& x, const Tensor& ids, std::optional<int64_t> count,
                 bool /*sorted*/) {
  return F(x, ids, count);
}

}  // namespace

CRESCENT_REGISTER(segments) {
  Operations(registry, "keras.src.ops.math")
      .add("SegmentSum", "segment_sum(data, segment_ids, num_segments=None, sorted=False)",
           &any_order<ops::segment_sum>, "Sums of the rows with one number.")
      .add("SegmentMax", "segment_max(data, segment_ids, num_segments=None, sorted=False)",
           &any_order<ops::segment_max>, "The largest number of each segment of rows.")
      .add("SegmentMin", "segment_min(data, segment_ids, num_segments=None, sorted=False)",
           &any_order<ops::segment_min>, "The smallest number of each segment of rows.")
      .add("SegmentProd", "segment_prod(data, segment_ids, num_segments=None, sorted=False)",
           &any_order<ops::segment_prod>, "The product of each segment of rows.");
}

}  // namespace crescent::operations
