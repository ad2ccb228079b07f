// Functions, besides those of ops.h, that read or write elements by index, convert indices, or
// reduce segments of rows. Indices count from 0, negative ones from the end; an index out of range
// fails when the program runs.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

/// NumPy's x[key] with integers, slices {start, stop, step}, "..." (ellipsis), null (a new axis),
/// index tensors and masks; two index tensors are combined elementwise.
CRESCENT_API Tensor get_item(const Tensor& x, const Value& key);
/// The slice of this size at `start` (rank); a start that is too large is clamped so that the slice
/// fits.
CRESCENT_API Tensor slice(const Tensor& x, const Tensor& start, const std::vector<int64_t>& size);
/// x with the slice at `start` replaced by `updates`, which has the rank of x.
CRESCENT_API Tensor slice_update(const Tensor& x, const std::vector<int64_t>& start,
                                 const Tensor& updates);
CRESCENT_API Tensor slice_update(const Tensor& x, const Tensor& start, const Tensor& updates);
/// Zeros of this shape to which values are added at indices (..., k) into the first k axes.
CRESCENT_API Tensor scatter(const Tensor& indices, const Tensor& values, const Shape& shape);
/// x with elements replaced by updates at indices (..., k), where the last update of an index wins;
/// or combined with the old elements by the reduction "add", "mul", "max" or "min".
CRESCENT_API Tensor scatter_update(const Tensor& x, const Tensor& indices, const Tensor& updates,
                                   const std::optional<std::string>& reduction = {});
/// One-hot encodes x along `axis` and takes the maximum over axis 1, or over axis 0 if x has one
/// axis: (batch, n) -> (batch, num_classes), 1 for each class that occurs in a row.
CRESCENT_API Tensor multi_hot(const Tensor& x, int64_t num_classes, int axis = -1,
                              std::optional<DType> dtype = {});
/// Converts indices into the flattened array to indices along each axis of the shape.
CRESCENT_API Tensors unravel_index(const Tensor& indices, const Shape& shape);

// -- reductions of the rows with equal segment id: data (rows, ...), segment_ids (rows) ->
// (num_segments, ...). num_segments defaults to the largest id plus one, which requires ids with
// known values. Rows with ids out of range are ignored.
CRESCENT_API Tensor segment_sum(const Tensor& data, const Tensor& segment_ids,
                                std::optional<int64_t> num_segments = {});
CRESCENT_API Tensor segment_prod(const Tensor& data, const Tensor& segment_ids,
                                 std::optional<int64_t> num_segments = {});
CRESCENT_API Tensor segment_max(const Tensor& data, const Tensor& segment_ids,
                                std::optional<int64_t> num_segments = {});
CRESCENT_API Tensor segment_min(const Tensor& data, const Tensor& segment_ids,
                                std::optional<int64_t> num_segments = {});

}  // namespace crescent::ops
