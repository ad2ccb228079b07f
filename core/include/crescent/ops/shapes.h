// The same elements in another shape, order or number, beside those of ops.h.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

CRESCENT_API Tensor copy(const Tensor& x);                           ///< in memory of its own
inline Tensor ravel(const Tensor& x) { return reshape(x, {-1}); }    ///< one axis
CRESCENT_API Tensor squeeze(const Tensor& x, const Axes& axes);      ///< none: all that are 1
CRESCENT_API Tensor expand_dims(const Tensor& x, const Axes& axes);  ///< axes of the result
inline Tensor swapaxes(const Tensor& x, int axis1, int axis2) { return swap_axes(x, axis1, axis2); }
/// Axes to other places, the others in their order.
CRESCENT_API Tensor moveaxis(const Tensor& x, const Axes& source, const Axes& destination);
/// Axes by name: "b (h w) -> h b w" with the lengths of names that do not follow from the shape.
CRESCENT_API Tensor rearrange(const Tensor& x, const std::string& pattern,
                              std::span<const std::pair<std::string, int64_t>> lengths = {});

// -- several
CRESCENT_API Tensor hstack(std::span<const Tensor> tensors);
CRESCENT_API Tensor vstack(std::span<const Tensor> tensors);
CRESCENT_API Tensor dstack(std::span<const Tensor> tensors);
/// x2 after x1 along an axis; both flattened without one.
CRESCENT_API Tensor append(const Tensor& x1, const Tensor& x2, std::optional<int64_t> axis = {});
/// Equal parts; fails where there is a rest. With sizes of parts: ops.h.
CRESCENT_API Tensors split(const Tensor& x, int64_t sections, int axis = 0);
/// Parts that end before these indices, which is Keras' split with a list.
CRESCENT_API Tensors split_at(const Tensor& x, const std::vector<int64_t>& indices, int axis = 0);
/// Parts as equal as can be.
CRESCENT_API Tensors array_split(const Tensor& x, int64_t sections, int axis = 0);
CRESCENT_API Tensors hsplit(const Tensor& x, int64_t sections);  ///< the second axis, or the only
CRESCENT_API Tensors vsplit(const Tensor& x, int64_t sections);  ///< the first axis
CRESCENT_API Tensors dsplit(const Tensor& x, int64_t sections);  ///< the third axis
/// The rows of an axis, of which num must be the size where that is not known.
CRESCENT_API Tensors unstack(const Tensor& x, std::optional<int64_t> num = {}, int axis = 0);

// -- order and number
/// Each element n times; of the flattened tensor without an axis.
CRESCENT_API Tensor repeat(const Tensor& x, int64_t n);
/// Each element of an axis as often as a number of its own says, which must have values.
CRESCENT_API Tensor repeat(const Tensor& x, const Tensor& repeats, std::optional<int64_t> axis);
CRESCENT_API Tensor flip(const Tensor& x);    ///< all axes
CRESCENT_API Tensor fliplr(const Tensor& x);  ///< the second axis
CRESCENT_API Tensor flipud(const Tensor& x);  ///< the first axis
/// Elements moved on, the last ones to the front: a number for all axes or each; of the flattened
/// tensor without axes.
CRESCENT_API Tensor roll(const Tensor& x, const std::vector<int64_t>& shift, const Axes& axes = {});
/// k quarter turns in the plane of two axes.
CRESCENT_API Tensor rot90(const Tensor& x, int64_t k = 1, const Axes& axes = {0, 1});

/// Widths before and after each axis; one pair counts for all.
struct PadWidths {
  std::vector<std::pair<int64_t, int64_t>> pairs;
};
/// The mode is constant, empty, edge, linear_ramp, reflect, symmetric, wrap, circular, maximum,
/// minimum, mean or median; the value belongs to constant.
CRESCENT_API Tensor pad(const Tensor& x, const PadWidths& widths,
                        const std::string& mode = "constant", std::optional<double> value = {});

}  // namespace crescent::ops
