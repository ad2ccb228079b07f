// Functions that reshape, reorder, repeat or join elements and that ops.h does not have.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

CRESCENT_API Tensor copy(const Tensor& x);                         ///< copies x to new memory
inline Tensor ravel(const Tensor& x) { return reshape(x, {-1}); }  ///< x with a single axis
/// Removes these axes, whose size is 1; without axes, all axes of size 1.
CRESCENT_API Tensor squeeze(const Tensor& x, const Axes& axes);
/// Inserts axes of size 1; `axes` are their indices in the result.
CRESCENT_API Tensor expand_dims(const Tensor& x, const Axes& axes);
inline Tensor swapaxes(const Tensor& x, int axis1, int axis2) { return swap_axes(x, axis1, axis2); }
/// Moves axes to other positions; the remaining axes keep their order.
CRESCENT_API Tensor moveaxis(const Tensor& x, const Axes& source, const Axes& destination);
/// Einops' rearrange, "b (h w) -> h b w"; `lengths` gives the sizes of names that do not follow
/// from the shape.
CRESCENT_API Tensor rearrange(const Tensor& x, const std::string& pattern,
                              std::span<const std::pair<std::string, int64_t>> lengths = {});

// -- joining and splitting
CRESCENT_API Tensor hstack(std::span<const Tensor> tensors);
CRESCENT_API Tensor vstack(std::span<const Tensor> tensors);
CRESCENT_API Tensor dstack(std::span<const Tensor> tensors);
/// x2 after x1 along an axis; without an axis, both are flattened.
CRESCENT_API Tensor append(const Tensor& x1, const Tensor& x2, std::optional<int64_t> axis = {});
/// Splits x into equal parts; fails if the axis is not divisible. The overload in ops.h takes the
/// sizes of the parts.
CRESCENT_API Tensors split(const Tensor& x, int64_t sections, int axis = 0);
/// Splits x into parts that end before these indices (Keras' split with a list).
CRESCENT_API Tensors split_at(const Tensor& x, const std::vector<int64_t>& indices, int axis = 0);
/// NumPy's array_split: parts whose sizes differ by at most 1.
CRESCENT_API Tensors array_split(const Tensor& x, int64_t sections, int axis = 0);
/// Splits along axis 1, or along the only axis of a vector, into equal parts.
CRESCENT_API Tensors hsplit(const Tensor& x, int64_t sections);
CRESCENT_API Tensors vsplit(const Tensor& x, int64_t sections);  ///< along axis 0
CRESCENT_API Tensors dsplit(const Tensor& x, int64_t sections);  ///< along axis 2
/// The slices along an axis; `num` gives their number if the size of the axis is unknown.
CRESCENT_API Tensors unstack(const Tensor& x, std::optional<int64_t> num = {}, int axis = 0);

// -- repeating and reordering
/// Repeats each element of the flattened x n times.
CRESCENT_API Tensor repeat(const Tensor& x, int64_t n);
/// Repeats each slice along an axis as often as its element of `repeats`, whose values must be
/// known.
CRESCENT_API Tensor repeat(const Tensor& x, const Tensor& repeats, std::optional<int64_t> axis);
CRESCENT_API Tensor flip(const Tensor& x);    ///< reverses all axes
CRESCENT_API Tensor fliplr(const Tensor& x);  ///< reverses axis 1
CRESCENT_API Tensor flipud(const Tensor& x);  ///< reverses axis 0
/// Rotates elements: those shifted beyond the end continue at the front. `shift` is one number for
/// all axes or one per axis; without axes, the flattened tensor is rotated.
CRESCENT_API Tensor roll(const Tensor& x, const std::vector<int64_t>& shift, const Axes& axes = {});
/// Rotates by k * 90 degrees in the plane of two axes.
CRESCENT_API Tensor rot90(const Tensor& x, int64_t k = 1, const Axes& axes = {0, 1});

/// Numbers of elements that pad() adds before and after each axis; a single pair is used for all
/// axes.
struct PadWidths {
  std::vector<std::pair<int64_t, int64_t>> pairs;
};
/// Pads x at the ends of its axes. The mode is constant, empty, edge, linear_ramp, reflect,
/// symmetric, wrap, circular, maximum, minimum, mean or median; `value` is for mode constant.
CRESCENT_API Tensor pad(const Tensor& x, const PadWidths& widths,
                        const std::string& mode = "constant", std::optional<double> value = {});

}  // namespace crescent::ops
