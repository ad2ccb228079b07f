// Rows that belong together, by number.
#include "crescent/ops/indexing.h"

#include "families.h"

namespace crescent::operations {
namespace {

/// The flag promises something that is not needed here.
template <Tensor (*F)(const Tensor&, const Tensor&, std::optional<int64_t>)>
Tensor any_order(const Tensor& x, const Tensor& ids, std::optional<int64_t> count,
                 bool /*sorted*/) {
  return F(x, ids, count);
}

}  // namespace

void add_segments(Registry& registry) {
  Operations(registry, "keras.src.ops.math")
      .add("SegmentSum", "segment_sum(data, segment_ids, num_segments=None, sorted=False)",
           &any_order<ops::segment_sum>, "Sums of the rows with one number.")
      .add("SegmentMax", "segment_max(data, segment_ids, num_segments=None, sorted=False)",
           &any_order<ops::segment_max>)
      .add("SegmentMin", "segment_min(data, segment_ids, num_segments=None, sorted=False)",
           &any_order<ops::segment_min>)
      .add("SegmentProd", "segment_prod(data, segment_ids, num_segments=None, sorted=False)",
           &any_order<ops::segment_prod>);
}

}  // namespace crescent::operations
