// Elements by position, beside those of ops.h: reading, writing and numbering them. Positions count
// from 0, negative ones from the end; those out of range fail when the program runs.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

/// NumPy's x[key]: integers, slices {start, stop, step}, "..." and null (a new axis), tensors of
/// positions, masks; two tensors of positions pick pairs.
CRESCENT_API Tensor get_item(const Tensor& x, const Value& key);
/// The part of these sizes from where a tensor (rank) says, as much further to the front as fits.
CRESCENT_API Tensor slice(const Tensor& x, const Tensor& start, const std::vector<int64_t>& size);
/// x with the updates, of as many axes, in place of what is there from the start on.
CRESCENT_API Tensor slice_update(const Tensor& x, const std::vector<int64_t>& start,
                                 const Tensor& updates);
CRESCENT_API Tensor slice_update(const Tensor& x, const Tensor& start, const Tensor& updates);
/// Zeros of a shape with values added at indices (..., k) of its first k axes.
CRESCENT_API Tensor scatter(const Tensor& indices, const Tensor& values, const Shape& shape);
/// x with the updates at such indices, the last one of an index; or reduced with what is there, by
/// "add", "mul", "max" or "min".
CRESCENT_API Tensor scatter_update(const Tensor& x, const Tensor& indices, const Tensor& updates,
                                   const std::optional<std::string>& reduction = {});
/// Several classes as one vector.
CRESCENT_API Tensor multi_hot(const Tensor& x, int64_t num_classes, int axis = -1,
                              std::optional<DType> dtype = {});
/// Positions in the flattened array as those along each axis.
CRESCENT_API Tensors unravel_index(const Tensor& indices, const Shape& shape);

// -- rows of one number: (rows, ...) and (rows) -> (num_segments, ...), by default as many as the
// largest number asks for, which must be known then. Numbers out of range do not count.
CRESCENT_API Tensor segment_sum(const Tensor& data, const Tensor& segment_ids,
                                std::optional<int64_t> num_segments = {});
CRESCENT_API Tensor segment_prod(const Tensor& data, const Tensor& segment_ids,
                                 std::optional<int64_t> num_segments = {});
CRESCENT_API Tensor segment_max(const Tensor& data, const Tensor& segment_ids,
                                std::optional<int64_t> num_segments = {});
CRESCENT_API Tensor segment_min(const Tensor& data, const Tensor& segment_ids,
                                std::optional<int64_t> num_segments = {});

}  // namespace crescent::ops
