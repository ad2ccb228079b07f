// Ops for functions of arrays that a kernel computes in one pass. For authors of devices, in
// addition to op_types.h; users call the functions in crescent/ops.
#pragma once
#include "crescent/program/op_types.h"

namespace crescent {

// clang-format off
/// (x) -> x rotated along an axis by `shift`, 0 <= shift < size; elements shifted out re-enter at
/// 0.
CRESCENT_OP(Roll, "operations.roll")
  int axis = 0;
  int64_t shift = 0;
  CRESCENT_FIELDS(axis, shift)
  CRESCENT_TAKES_ALL
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> x rotated by 90 degrees in the plane of the axes `from` and `to`, where from < to: the
/// last column of a matrix becomes the first row. If `back`, rotated the other way: the first
/// column becomes the first row, its last element first.
CRESCENT_OP(Rot90, "operations.rot90")
  int from = 0, to = 1;
  bool back = false;
  CRESCENT_FIELDS(from, to, back)
  CRESCENT_TAKES_ALL
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> differences of neighbouring elements, one fewer along the axis, which must not be empty.
CRESCENT_OP(Diff, "operations.diff")
  int axis = 0;
  CRESCENT_FIELDS(axis)
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> cumulative products; float32 is multiplied in float64, so that rounding errors stay
/// small.
CRESCENT_OP(Cumprod, "operations.cumprod")
  int axis = 0;
  CRESCENT_FIELDS(axis)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// Functions of two tensors of one shape and dtype: integers, or for nextafter float32 or float64.
enum class Pairing : uint8_t {
  bit_and, bit_or, bit_xor, shift_left, shift_right, gcd, lcm, nextafter,
};
CRESCENT_API std::string to_text(Pairing kind);
CRESCENT_OP(Pairs, "operations.pairs")
  Pairing kind{};
  CRESCENT_FIELDS(kind)
};
/// Functions of one float32 or float64 tensor.
enum class Special : uint8_t { erfinv, erfc, i0, i1 };
CRESCENT_API std::string to_text(Special kind);
CRESCENT_OP(SpecialFunction, "operations.special")
  Special kind{};
  CRESCENT_FIELDS(kind)
  Tensors vjp(const Vjp&) const override;
};
/// The modified Bessel function of the first kind for x >= 0; infinity if the value exceeds the
/// range of double.
CRESCENT_API double bessel_i(double order, double x);
/// (x, part) -> x with the slice at `start` replaced by `part`.
CRESCENT_OP(PartUpdate, "operations.part_update")
  std::vector<int64_t> start;
  CRESCENT_FIELDS(start)
  bool supports_dtype(DType dtype) const override { return dtype == DType::complex64; }
  Tensors vjp(const Vjp&) const override;
};
/// (x (n, d), y (m, d)) -> (n, m), the Euclidean distance of each row of x to each row of y.
CRESCENT_OP(Distances, "operations.distances")
  CRESCENT_FIELDS()
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (sorted, values) -> for each value, how many sorted numbers are below it or, if `right`, not
/// above it.
CRESCENT_OP(Searchsorted, "operations.searchsorted")
  bool right = false;
  CRESCENT_FIELDS(right)
};
/// (values, set) -> whether each value is in the set or, if `invert`, is not in it.
CRESCENT_OP(Isin, "operations.isin")
  bool invert = false;
  CRESCENT_FIELDS(invert)
};
/// (x) -> how often each of 0..count-1 occurs in x; (x, edges) -> a histogram, whose bins include
/// the lower edge, and the last bin also the upper one.
CRESCENT_OP(Bincount, "operations.bincount")
  int64_t count = 0;
  CRESCENT_FIELDS(count)
};

/// The positions of patches in an image; each list has one number per spatial axis.
struct CRESCENT_API PatchGrid {
  std::vector<int64_t> size, strides, dilation;
  bool same = false;  ///< "same" padding: a patch at every stride, zero-padded at the border

  auto fields() const { return std::tie(size, strides, dilation, same); }
  bool operator==(const PatchGrid& other) const { return fields() == other.fields(); }
  size_t hash() const;
  int64_t area() const;              ///< elements of a patch per channel
  int64_t reach(size_t axis) const;  ///< extent of a patch along an axis, with dilation
  /// The number of patches along an axis of this length; -1 if the length is unknown.
  int64_t count(size_t axis, int64_t length) const;
};
CRESCENT_API std::string to_text(const PatchGrid& grid);
/// (batch, spatial..., channels) -> the patches of the images, (batch, patches..., size... *
/// channels).
CRESCENT_OP(Patches, "operations.patches")
  PatchGrid grid;
  CRESCENT_FIELDS(grid)
  bool supports_dtype(DType dtype) const override { return dtype == DType::complex64; }
  Tensors vjp(const Vjp&) const override;
};
/// The adjoint of Patches: images with these spatial sizes, where overlapping patches are added.
/// Its kernel supports only dtypes that have a C++ type (with_type.h).
CRESCENT_OP(PatchSum, "operations.patch_sum")
  PatchGrid grid;
  std::vector<int64_t> spatial;
  CRESCENT_FIELDS(grid, spatial)
  Tensors vjp(const Vjp&) const override;
};
/// im2col: (batch, channels, height, width) -> (batch, channels * patch size, patches).
CRESCENT_OP(Columns, "operations.columns")
  PatchGrid grid;
  CRESCENT_FIELDS(grid)
  bool supports_dtype(DType dtype) const override { return dtype == DType::complex64; }
  Tensors vjp(const Vjp&) const override;
};

// ---- Fourier transforms of the last axis, of float32 or float64
/// (real, imaginary) of x -> (real, imaginary) of y, where y_j is the sum over k of x_k exp(sign 2
/// pi i j k / n) and i is the imaginary unit.
CRESCENT_OP(Fourier, "operations.fourier")
  int sign = -1;
  CRESCENT_FIELDS(sign)
  Tensors vjp(const Vjp&) const override;
};
/// Real rows of even length n -> (real, imaginary) of frequencies 0..n/2.
CRESCENT_OP(RealFourier, "operations.real_fourier")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// The inverse of RealFourier: (real, imaginary) of frequencies 0..n/2 -> real rows of even length
/// n.
CRESCENT_OP(RealOfFourier, "operations.real_of_fourier")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};

// ---- images (batch, height, width, channels)
/// (x) -> x multiplied along an axis, of size `from`, by a banded matrix: element j of the result
/// is the sum over t of weights[j * taps + t] * x[first[j] + t].
CRESCENT_OP(BandedMatmul, "operations.banded_matmul")
  int axis = 0;
  int64_t from = 0;
  std::vector<int32_t> first;
  std::vector<double> weights;
  CRESCENT_FIELDS(axis, from, first, weights)
  int64_t taps() const { return static_cast<int64_t>(weights.size() / first.size()); }
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
/// The values that stand for pixels beyond the edges of an image.
enum class FillMode : uint8_t { constant, nearest, wrap, mirror, reflect };
/// (images, rows and columns (batch, h, w) in pixels) -> (batch, h, w, channels). Order 0 is the
/// nearest pixel, 1 bilinear interpolation of four.
CRESCENT_OP(SampleImages, "operations.sample_images")
  int64_t order = 1;
  FillMode fill = FillMode::constant;
  double fill_value = 0;
  CRESCENT_FIELDS(order, fill, fill_value)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (images, transforms (batch or 1, 8)) -> images whose pixel (x, y) is read at (a0 x + a1 y + a2,
/// b0 x + b1 y + b2), for transforms a0 a1 a2 b0 b1 b2 c0 c1. If `perspective`, the coordinates are
/// divided by c0 x + c1 y + 1; otherwise, as in Keras, channel k is read at x shifted by c1 k and y
/// shifted by c0 k.
CRESCENT_OP(ProjectImages, "operations.project_images")
  bool perspective = false;
  int64_t order = 1;
  FillMode fill = FillMode::constant;
  double fill_value = 0;
  CRESCENT_FIELDS(perspective, order, fill, fill_value)
  Tensors decompose(std::span<const Tensor>) const override;
};
// clang-format on

}  // namespace crescent
