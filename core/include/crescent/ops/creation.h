// Functions that ops.h does not have: they create tensors from numbers, and select parts of
// matrices.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

inline Tensor array(const Tensor& x, std::optional<DType> dtype = {}) {
  return dtype ? cast(x, *dtype) : x;
}
inline Tensor convert_to_tensor(const Tensor& x, std::optional<DType> dtype = {}) {
  return array(x, dtype);
}
inline Tensor empty(const Shape& shape, DType dtype = DType::float32) {  ///< the same as zeros()
  return zeros(shape, dtype);
}
inline Tensor empty_like(const Tensor& x, std::optional<DType> dtype = {}) {
  return zeros_like(x, dtype);
}
CRESCENT_API Tensor full_like(const Tensor& x, const Operand& value,
                              std::optional<DType> dtype = {});

// -- ranges of numbers
/// Numbers from start to below stop, `step` apart. The dtype defaults to float32 if one of the
/// numbers has a fraction, else to int32. Fails for a step of 0.
CRESCENT_API Tensor arange(const Operand& start, const Operand& stop, const Operand& step = 1,
                           std::optional<DType> dtype = {});
/// `num` evenly spaced numbers from start to stop; if these are tensors, the numbers lie along a
/// new axis. The dtype is float32 unless given.
CRESCENT_API Tensor linspace(const Operand& start, const Operand& stop, int64_t num = 50,
                             bool endpoint = true, std::optional<DType> dtype = {}, int axis = 0);
/// The difference of successive numbers of linspace().
CRESCENT_API Tensor linspace_step(const Operand& start, const Operand& stop, int64_t num = 50,
                                  bool endpoint = true);
/// `base` to the power of evenly spaced exponents.
CRESCENT_API Tensor logspace(const Operand& start, const Operand& stop, int64_t num = 50,
                             bool endpoint = true, double base = 10,
                             std::optional<DType> dtype = {}, int axis = 0);
/// `num` numbers from start to stop with a constant ratio; fails if start and stop have different
/// signs.
CRESCENT_API Tensor geomspace(const Operand& start, const Operand& stop, int64_t num = 50,
                              bool endpoint = true, std::optional<DType> dtype = {}, int axis = 0);

// -- matrices
CRESCENT_API Tensor identity(int64_t n, DType dtype = DType::float32);
/// An n x m matrix with ones at and below the k-th diagonal, else zeros.
CRESCENT_API Tensor tri(int64_t n, std::optional<int64_t> m = {}, int64_t k = 0,
                        std::optional<DType> dtype = {});
CRESCENT_API Tensor tril(const Tensor& x, int64_t k = 0);  ///< x with zeros above the k-th diagonal
CRESCENT_API Tensor triu(const Tensor& x, int64_t k = 0);  ///< x with zeros below the k-th diagonal
/// The k-th diagonal of a matrix; for a vector, the matrix with this k-th diagonal.
CRESCENT_API Tensor diag(const Tensor& x, int64_t k = 0);
/// The matrix with all elements of x on its k-th diagonal.
CRESCENT_API Tensor diagflat(const Tensor& x, int64_t k = 0);
/// The diagonals of the matrices that two axes of x form; they are the last axis of the result.
CRESCENT_API Tensor diagonal(const Tensor& x, int64_t offset = 0, int axis1 = 0, int axis2 = 1);
CRESCENT_API Tensor trace(const Tensor& x, int64_t offset = 0, int axis1 = 0, int axis2 = 1);
/// The Vandermonde matrix of x (m): powers in n columns, in descending order unless `increasing`.
CRESCENT_API Tensor vander(const Tensor& x, std::optional<int64_t> n = {}, bool increasing = false);
/// The coordinates of all points of a grid: for "ij", vectors (n1), (n2), ... -> as many tensors
/// (n1, n2, ...); for "xy", the first two axes are exchanged.
CRESCENT_API Tensors meshgrid(std::span<const Tensor> xs, const std::string& indexing = "xy");

// -- window functions of `count` values, float32
CRESCENT_API Tensor bartlett(int64_t count);
CRESCENT_API Tensor blackman(int64_t count);
CRESCENT_API Tensor hamming(int64_t count);
CRESCENT_API Tensor hanning(int64_t count);
CRESCENT_API Tensor kaiser(int64_t count, double beta);

}  // namespace crescent::ops
