// Ops of quantized weights, for authors of devices, in addition to op_types.h. A byte with weights
// of 4 bits holds two neighbouring values from -8 to 7 of a row of the matrix, the left one in the
// lower half. `block` rows share a scale and a zero point in each column; the last block may have
// fewer.
#pragma once
#include "crescent/program/op_types.h"

namespace crescent {
namespace ops {
enum class Padding : uint8_t;
}

/// A tensor as integers and a scale: values / scale approximates the tensor.
struct Quantized {
  Tensor values, scale;
};

/// A way to round numbers to integers from `low` to `high`: the numbers are scaled so that the one
/// with the largest magnitude becomes an end of this range.
struct CRESCENT_API AbsMax {
  int64_t low = -127, high = 127;
  double epsilon = 1e-7;
  bool operator==(const AbsMax&) const = default;
  size_t hash() const;
  /// Rounds x to int8, with a scale for each combination of indices of the other axes than `axes`.
  /// The scale has size 1 along `axes`.
  Quantized operator()(const Tensor& x, const std::vector<int>& axes) const;
};
CRESCENT_API std::string to_text(const AbsMax& range);

/// Integers from -8 to 7 of shape (..., columns) as bytes: int8 (..., columns / 2, rounded up).
CRESCENT_API Tensor packed_int4(const Tensor& values);
/// The inverse of packed_int4() for this number of columns: int8 (..., columns).
CRESCENT_API Tensor unpacked_int4(const Tensor& bytes, int64_t columns);

// clang-format off
/// (bytes (rows, columns / 2, rounded up), scale (blocks, columns), zero int8 (blocks, columns)) ->
/// (value - zero) scale, of shape (rows, columns) and the dtype of the scale.
CRESCENT_OP(Int4Floats, "operations.int4_floats")
  int64_t block = 0;
  CRESCENT_FIELDS(block)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x (..., rows), and the inputs of Int4Floats) -> the product of x and the matrix of Int4Floats,
/// of shape (..., columns) and the dtype of x.
CRESCENT_OP(Int4Product, "operations.int4_product")
  int64_t block = 0;
  CRESCENT_FIELDS(block)
  Tensors decompose(std::span<const Tensor>) const override;
};
/// (x (batch, spatial..., in), int8 kernel (spatial..., in, out), scale (out)) -> the convolution
/// of x and kernel / scale, of the dtype of x. It multiplies integers: `range` rounds x, with one
/// scale for each element of the batch. The gradient is that of the convolution of x unrounded.
CRESCENT_OP(Int8Conv, "int8_conv")
  ConvSpec spec;
  AbsMax range;
  CRESCENT_FIELDS(spec, range)
  Tensors vjp(const Vjp&) const override;
  Tensors decompose(std::span<const Tensor>) const override;
};
// clang-format on

/// Int8Conv with the geometry of ops::conv(). Half-width floats x are computed in float32, because
/// sums of integers exceed float16.
CRESCENT_API Tensor int8_conv(const Tensor& x, const Tensor& kernel, const Tensor& scale,
                              const AbsMax& range, const std::vector<int64_t>& strides,
                              ops::Padding padding, const std::vector<int64_t>& dilation);

}  // namespace crescent
