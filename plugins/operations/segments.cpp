// Reductions of the rows with the same segment number.
#include "crescent/ops/indexing.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

/// The parameter `sorted` of Keras only allows an optimization, and is ignored.
template <Tensor (*F)(const Tensor&, const Tensor&, std::optional<int64_t>)>
Tensor segment_reduction(const Tensor& x, const Tensor& ids, std::optional<int64_t> count,
                         bool /*sorted*/) {
  return F(x, ids, count);
}

}  // namespace

CRESCENT_REGISTER(segments) {
  Operations(registry, "keras.src.ops.math")
      .add("SegmentSum", "segment_sum(data, segment_ids, num_segments=None, sorted=False)",
           &segment_reduction<ops::segment_sum>, "The sum of the rows of each segment.")
      .add("SegmentMax", "segment_max(data, segment_ids, num_segments=None, sorted=False)",
           &segment_reduction<ops::segment_max>, "The maximum of the rows of each segment.")
      .add("SegmentMin", "segment_min(data, segment_ids, num_segments=None, sorted=False)",
           &segment_reduction<ops::segment_min>, "The minimum of the rows of each segment.")
      .add("SegmentProd", "segment_prod(data, segment_ids, num_segments=None, sorted=False)",
           &segment_reduction<ops::segment_prod>, "The product of the rows of each segment.");
}

}  // namespace crescent::operations
