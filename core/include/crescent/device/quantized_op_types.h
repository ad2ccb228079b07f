// Ops of weights of 4 bits, for authors of devices, in addition to op_types.h. A byte holds two
// neighbouring values from -8 to 7 of a row of the matrix, the left one in the lower half. `block`
// rows share a scale and a zero point in each column; the last block may have fewer.
#pragma once
#include "crescent/program/op_types.h"

namespace crescent {

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
// clang-format on

}  // namespace crescent
