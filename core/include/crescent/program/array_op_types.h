// Ops of single functions, which kernels compute in one pass: what authors of devices need beside
// op_types.h. Users call the headers of ops.
#pragma once
#include "crescent/program/op_types.h"

namespace crescent {

// clang-format off
/// (x) -> the elements along an axis moved on, the last ones to the front; 0 <= shift < its length.
CRESCENT_OP(Roll, "operations.roll")
  int axis = 0;
  int64_t shift = 0;
  CRESCENT_FIELDS(axis, shift)
  CRESCENT_TAKES_ALL
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> turned, from < to: the last column of a matrix becomes the first row, or the first column
/// when `back`, the last row being its first element.
CRESCENT_OP(Rot90, "operations.rot90")
  int from = 0, to = 1;
  bool back = false;
  CRESCENT_FIELDS(from, to, back)
  CRESCENT_TAKES_ALL
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> each element less the one before, one fewer along the axis, which has at least one.
CRESCENT_OP(Diff, "operations.diff")
  int axis = 0;
  CRESCENT_FIELDS(axis)
  Tensors decompose(std::span<const Tensor>) const override;
  Tensors vjp(const Vjp&) const override;
};
/// (x) -> running products, of float32 in float64, so that many factors lose nothing.
CRESCENT_OP(Cumprod, "operations.cumprod")
  int axis = 0;
  CRESCENT_FIELDS(axis)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (a, b) of one shape and dtype: whole numbers, for nextafter float32 or float64.
enum class Pairing : uint8_t {
  bit_and, bit_or, bit_xor, shift_left, shift_right, gcd, lcm, nextafter,
};
CRESCENT_API std::string to_text(Pairing kind);
CRESCENT_OP(Pairs, "operations.pairs")
  Pairing kind{};
  CRESCENT_FIELDS(kind)
};
/// (x), float32 or float64.
enum class Special : uint8_t { erfinv, erfc, i0, i1 };
CRESCENT_API std::string to_text(Special kind);
CRESCENT_OP(SpecialFunction, "operations.special")
  Special kind{};
  CRESCENT_FIELDS(kind)
  Tensors vjp(const Vjp&) const override;
};
/// The modified Bessel function of the first kind, x >= 0; infinite where that exceeds a double.
CRESCENT_API double bessel_i(double order, double x);
/// (x, part) -> x with the part in it, from `start` on.
CRESCENT_OP(PartUpdate, "operations.part_update")
  std::vector<int64_t> start;
  CRESCENT_FIELDS(start)
  bool supports_dtype(DType dtype) const override { return dtype == DType::complex64; }
  Tensors vjp(const Vjp&) const override;
};
/// (x (n, d), y (m, d)) -> (n, m), the distance of each row of x from each of y.
CRESCENT_OP(Distances, "operations.distances")
  CRESCENT_FIELDS()
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (sorted, values) -> how many are below each value, or not above it: `right`.
CRESCENT_OP(Searchsorted, "operations.searchsorted")
  bool right = false;
  CRESCENT_FIELDS(right)
};
/// (values, set) -> whether each value is in the set.
CRESCENT_OP(Isin, "operations.isin")
  bool invert = false;
  CRESCENT_FIELDS(invert)
};
/// (x) -> how often it has each of 0..count-1; (x, edges) -> how many are from an edge up to the
/// next, where the last bin has its upper edge too.
CRESCENT_OP(Bincount, "operations.bincount")
  int64_t count = 0;
  CRESCENT_FIELDS(count)
};

/// Where patches are: a number for each spatial axis.
struct CRESCENT_API PatchGrid {
  std::vector<int64_t> size, strides, dilation;
  bool same = false;  ///< a patch at every stride, with zeros beyond the border

  auto fields() const { return std::tie(size, strides, dilation, same); }
  bool operator==(const PatchGrid& other) const { return fields() == other.fields(); }
  size_t hash() const;
  int64_t area() const;              ///< elements of a patch, in one channel
  int64_t reach(size_t axis) const;  ///< elements that a patch reaches over along an axis
  /// Patches along an axis of this length; -1 where it is not known.
  int64_t count(size_t axis, int64_t length) const;
};
CRESCENT_API std::string to_text(const PatchGrid& grid);
/// (batch, spatial..., channels) -> (batch, places..., size... * channels)
CRESCENT_OP(Patches, "operations.patches")
  PatchGrid grid;
  CRESCENT_FIELDS(grid)
  bool supports_dtype(DType dtype) const override { return dtype == DType::complex64; }
  Tensors vjp(const Vjp&) const override;
};
/// The other way round, to images of these spatial sizes: where patches overlap they are added. Of
/// dtypes that C++ has.
CRESCENT_OP(PatchSum, "operations.patch_sum")
  PatchGrid grid;
  std::vector<int64_t> spatial;
  CRESCENT_FIELDS(grid, spatial)
  Tensors vjp(const Vjp&) const override;
};
/// (batch, channels, height, width) -> (batch, channels * size, places): the elements of all
/// patches that are at the same place of their patch lie beside each other.
CRESCENT_OP(Columns, "operations.columns")
  PatchGrid grid;
  CRESCENT_FIELDS(grid)
  bool supports_dtype(DType dtype) const override { return dtype == DType::complex64; }
  Tensors vjp(const Vjp&) const override;
};

// ---- Fourier transforms of the last axis, of float32 or float64
/// (real, imaginary) of x -> the same of the sum x_k exp(sign 2 pi i j k / n).
CRESCENT_OP(Fourier, "operations.fourier")
  int sign = -1;
  CRESCENT_FIELDS(sign)
  Tensors vjp(const Vjp&) const override;
};
/// Real numbers, an even number a row -> (real, imaginary) of the first half of their transform.
CRESCENT_OP(RealFourier, "operations.real_fourier")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};
/// (real, imaginary) of the first half -> the real numbers, an even number a row.
CRESCENT_OP(RealOfFourier, "operations.real_of_fourier")
  CRESCENT_FIELDS()
  Tensors vjp(const Vjp&) const override;
};

// ---- images (batch, height, width, channels)
/// (x) -> x with an axis mapped: element j is the sum of weights[j * taps + t] times element
/// first[j] + t of the `from` that there are.
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
/// What is beyond the edges.
enum class FillMode : uint8_t { constant, nearest, wrap, mirror, reflect };
/// (images, rows and columns (batch, h, w) in pixels) -> (batch, h, w, channels); the order is 0
/// for the nearest pixel, 1 for a mean of four.
CRESCENT_OP(SampleImages, "operations.sample_images")
  int64_t order = 1;
  FillMode fill = FillMode::constant;
  double fill_value = 0;
  CRESCENT_FIELDS(order, fill, fill_value)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (images, transforms (batch or 1, 8)) -> images of which each place (x, y) shows what is at
/// (a0 x + a1 y + a2, b0 x + b1 y + b2), for transforms a0 a1 a2 b0 b1 b2 c0 c1: in perspective
/// over c0 x + c1 y + 1, else moved by c1 and c0 times the channel's number, as Keras has it.
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
