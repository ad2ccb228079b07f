// Functions that apply the ops of array_op_types.h.
#pragma once
#include <limits>

#include "crescent/ops/arguments.h"
#include "crescent/program/array_op_types.h"

namespace crescent {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns x with the elements along an axis shifted by `shift`; the last ones move to the front.
Tensor rolled(const Tensor& x, int axis, int64_t shift);
/// Returns x rotated by 90 degrees in the plane of two axes: the axes `from` and `to` are swapped,
/// and then the axis `from` is reversed.
Tensor quarter_turned(const Tensor& x, int from, int to);
/// Returns x with `replacement` (of the same dtype and rank) written over it at the position
/// `start`.
Tensor with_replaced_part(const Tensor& x, const Tensor& replacement,
                          const std::vector<int64_t>& start);

/// (x (..., n), ranks (..., k)) -> for each rank, counted from 0, the element of this rank among
/// the sorted elements of its row of x, and its index (int32). NaN is the largest value; the later
/// of equal elements has the lower rank. The CPU device has a kernel of this name.
struct OrderStatistics final : OpOf<OrderStatistics> {
  static constexpr const char* kName = "operations.order_statistics";
  TensorSpecs infer(std::span<const TensorSpec>) const override;
  CRESCENT_FIELDS()
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
/// Returns, for each of the ranks (..., k), the element of this rank among the sorted elements of
/// its row of x (..., n).
Tensor order_statistics(const Tensor& x, const Tensor& ranks);

/// Cuts images (batch, spatial..., channels) into patches. The result has the shape (batch, patch
/// positions..., n), where n is the number of elements of a patch with all channels.
Tensor patches_of(const Tensor& images, const PatchGrid& grid);
/// The transpose of the linear map patches_of: puts patches together to images of these spatial
/// sizes. Where patches overlap, their elements are added.
Tensor sum_of_patches(const Tensor& patches, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial_sizes);
/// Cuts images (batch, channels, height, width) into patches (batch, channels * patch size, patch
/// positions).
Tensor columns_of(const Tensor& images, const PatchGrid& grid);
/// The transpose of the linear map columns_of. Where patches overlap, their elements are added.
Tensor sum_of_columns(const Tensor& columns, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial_sizes);

/// The largest finite number of a floating-point dtype.
double largest_finite(DType dtype);
/// Casts half-width floats to float32; returns other tensors unchanged.
inline Tensor without_halves(const Tensor& x) {
  const bool is_half = x.dtype() == DType::bfloat16 || x.dtype() == DType::float16;
  return is_half ? ops::cast(x, DType::float32) : x;
}

}  // namespace crescent
