// Helpers shared by the implementations of ops.
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

/// The gradient of a broadcast: sums `gradient` over the broadcast axes, so that the result has
/// `shape`.
Tensor sum_to(const Tensor& gradient, const Shape& shape);

/// The specs' shapes for messages: "(2, 3) and (4,)".
std::string shapes_text(std::span<const TensorSpec> specs);

/// Fails unless x is floating: "exp: expected a floating dtype, got int32".
void expect_floating(std::string_view op, DType dtype);
/// Fails unless the number of elements, such as start indices, equals the number of axes of the
/// shape; `element_noun` names an element in the message.
void expect_one_per_axis(std::string_view op, size_t element_count, const Shape& shape,
                         std::string_view element_noun);
void expect_rank_at_least(std::string_view op, const Shape& shape, int rank);

/// The dtype in which statistics of x are computed and parameters are applied to x: float32 for
/// half-width floats.
inline DType statistics_dtype(DType x) {
  return x == DType::bfloat16 || x == DType::float16 ? DType::float32 : x;
}

/// Whether the product of these matrices sums over an axis of size 0, so that its result is zeros.
bool sums_nothing(const Tensor& a, const Tensor& b);

/// Makes axes nonnegative and sorts them; fails on a duplicate or an axis out of range. An empty
/// list means all axes.
std::vector<int> normal_axes(std::string_view op, const std::vector<int>& axes, const Shape& shape);
/// Makes one axis nonnegative; fails if it is out of range.
int normal_axis(std::string_view op, int axis, const Shape& shape);

/// Limit of lengths, strides and widths; sums and products of a few values below it cannot
/// overflow.
inline constexpr int64_t kMaxLength = int64_t{1} << 30;

/// The gradient of take_along_axis(x, indices, axis) with respect to x of `shape`: adds `updates`
/// at the elements that were read.
Tensor scatter_along(const Tensor& indices, const Tensor& updates, const Shape& shape, int axis);

/// The dtype of a product; fails unless `a` and `b` are equal.
DType product_dtype(std::string_view op, DType a, DType b);

/// The number of elements; -1 when a dim is unknown.
int64_t known_size(const Shape& shape);
/// Reshapes x (..., n) to (rows, n), also for n = 0, for which reshape() could not infer the number
/// of rows.
Tensor as_rows(const Tensor& x);

/// Casts integers and booleans to `dtype`.
Tensor as_floating(const Tensor& x, DType dtype = floatx());

}  // namespace crescent
