// What the families of ops share.
#pragma once
#include <algorithm>
#include <cassert>
#include <initializer_list>

#include "crescent/ops/ops.h"

namespace crescent {

/// A scalar of x's dtype.
inline Tensor scalar_like(const Tensor& x, double value) {
  return Tensor::scalar(value, x.dtype());
}

/// Sums a gradient over the axes that broadcasting stretched, so that it has `shape` again.
Tensor sum_to(const Tensor& gradient, const Shape& shape);

/// The specs' shapes for messages: "(2, 3) and (4,)".
std::string shapes_text(std::span<const TensorSpec> specs);

/// Fails unless x is floating: "exp: expected a floating dtype, got int32".
void expect_floating(std::string_view op, DType dtype);
/// Fails unless there is one of something for each axis.
void expect_rows(std::string_view op, size_t rows, const Shape& shape, std::string_view what);
void expect_rank_at_least(std::string_view op, const Shape& shape, int rank);

/// What statistics of x and the parameters applied with them are kept in.
inline DType statistics_dtype(DType x) {
  return x == DType::bfloat16 || x == DType::float16 ? DType::float32 : x;
}

/// Whether a product of these sums nothing, so that its result is zeros.
bool sums_nothing(const Tensor& a, const Tensor& b);

/// Positive axes, sorted; fails on one that is out of range or given twice. No axes: all.
std::vector<int> normal_axes(std::string_view op, const std::vector<int>& axes, const Shape& shape);
/// The same for one axis of a tensor of `rank` axes.
int normal_axis(std::string_view op, int axis, const Shape& shape);

/// Lengths, strides and widths beyond this are mistakes; sums and products of a few stay far from
/// overflow below it.
inline constexpr int64_t kMostLength = int64_t{1} << 30;

/// Adds `updates` where take_along_axis(x, indices, axis) would have read: a tensor of `shape`.
Tensor scatter_along(const Tensor& indices, const Tensor& updates, const Shape& shape, int axis);

/// The dtype of the result of a product of `a` and `b`, which must be equal.
DType product_dtype(std::string_view op, DType a, DType b);

/// Elements; -1 when a dim is unknown.
int64_t known_size(const Shape& shape);
/// x (..., n) as (rows, n); also when n is 0, where reshape cannot work out a -1.
Tensor as_rows(const Tensor& x);

/// Integers and booleans as `dtype`.
Tensor as_floating(const Tensor& x, DType dtype = DType::float32);

}  // namespace crescent
