// Ops that single functions apply.
#pragma once
#include <limits>

#include "crescent/ops/arguments.h"
#include "crescent/program/array_op_types.h"

namespace crescent {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// x with the elements along an axis moved on by `shift` places, the last ones to the front.
Tensor rolled(const Tensor& x, int axis, int64_t shift);
/// x turned by a quarter: the axis `to`, backwards, takes the place of `from`, and `from` that of
/// `to`.
Tensor quarter_turned(const Tensor& x, int from, int to);
/// x with `part`, of its dtype and as many axes, in place of what is there from `start` on.
Tensor with_part(const Tensor& x, const Tensor& part, const std::vector<int64_t>& start);

/// (batch, spatial..., channels) -> (batch, places..., size... * channels)
Tensor patches_of(const Tensor& images, const PatchGrid& grid);
/// The other way round, to images of these spatial sizes: where patches overlap they are added.
Tensor sum_of_patches(const Tensor& patches, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial);
/// Images (batch, channels, height, width) -> (batch, channels * size, places).
Tensor columns_of(const Tensor& images, const PatchGrid& grid);
/// The other way round, as above.
Tensor sum_of_columns(const Tensor& columns, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial);

/// Half-width floats as float32.
inline Tensor without_halves(const Tensor& x) {
  const bool half = x.dtype() == DType::bfloat16 || x.dtype() == DType::float16;
  return half ? ops::cast(x, DType::float32) : x;
}

}  // namespace crescent
