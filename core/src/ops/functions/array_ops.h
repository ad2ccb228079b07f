// Functions that apply the ops of array_op_types.h.
#pragma once
#include <limits>

#include "crescent/ops/arguments.h"
#include "crescent/program/array_op_types.h"

namespace crescent {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// x rotated along an axis by `shift`; elements shifted out at the end re-enter at the start.
Tensor rolled(const Tensor& x, int axis, int64_t shift);
/// x rotated by 90 degrees: axis `to`, reversed, becomes axis `from`, and `from` becomes `to`.
Tensor quarter_turned(const Tensor& x, int from, int to);
/// x with the slice at `start` replaced by `part`, which has the dtype and rank of x.
Tensor with_part(const Tensor& x, const Tensor& part, const std::vector<int64_t>& start);

/// (batch, spatial..., channels) -> (batch, patches..., size... * channels)
Tensor patches_of(const Tensor& images, const PatchGrid& grid);
/// The adjoint of patches_of(): images of these spatial sizes, where overlapping patches are added.
Tensor sum_of_patches(const Tensor& patches, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial);
/// im2col: images (batch, channels, height, width) -> (batch, channels * patch size, patches).
Tensor columns_of(const Tensor& images, const PatchGrid& grid);
/// The adjoint of columns_of().
Tensor sum_of_columns(const Tensor& columns, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial);

/// Casts half-width floats to float32; returns other tensors unchanged.
inline Tensor without_halves(const Tensor& x) {
  const bool half = x.dtype() == DType::bfloat16 || x.dtype() == DType::float16;
  return half ? ops::cast(x, DType::float32) : x;
}

}  // namespace crescent
