// Functions that apply the ops of array_op_types.h.
#pragma once
#include <limits>

#include "crescent/ops/arguments.h"
#include "crescent/program/array_op_types.h"

namespace crescent {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// x with the elements along an axis shifted by `shift`; the last ones move to the front.
Tensor rolled(const Tensor& x, int axis, int64_t shift);
/// x rotated by 90 degrees in the plane of two axes: the reversed axis `to` takes the place of
/// `from`, and `from` that of `to`.
Tensor quarter_turned(const Tensor& x, int from, int to);
/// x with `part` (of the same dtype and rank) written over it at the position `start`.
Tensor with_part(const Tensor& x, const Tensor& part, const std::vector<int64_t>& start);

/// (batch, spatial..., channels) -> (batch, patch positions..., patch size... * channels)
Tensor patches_of(const Tensor& images, const PatchGrid& grid);
/// The transpose of patches_of, to images of these spatial sizes: overlapping patches are added.
Tensor sum_of_patches(const Tensor& patches, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial);
/// Images (batch, channels, height, width) -> (batch, channels * patch size, patch positions).
Tensor columns_of(const Tensor& images, const PatchGrid& grid);
/// The transpose of columns_of: overlapping patches are added.
Tensor sum_of_columns(const Tensor& columns, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial);

/// Half-width floats cast to float32; other tensors are unchanged.
inline Tensor without_halves(const Tensor& x) {
  const bool half = x.dtype() == DType::bfloat16 || x.dtype() == DType::float16;
  return half ? ops::cast(x, DType::float32) : x;
}

}  // namespace crescent
