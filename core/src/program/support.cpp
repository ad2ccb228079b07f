#include "program/support.h"

#include <numeric>

namespace crescent {

Tensor sum_to(const Tensor& gradient, const Shape& shape) {
  const Shape& gradient_shape = gradient.shape();
  const int extra_axes = gradient_shape.rank() - shape.rank();
  std::vector<int> axes;
  for (int i = 0; i < gradient_shape.rank(); ++i) {
    if (i < extra_axes || (shape[i - extra_axes] == 1 && gradient_shape[i] != 1)) axes.push_back(i);
  }
  if (axes.empty()) return gradient;
  const Tensor sum = ops::sum(gradient, axes, true);
  return extra_axes == 0 ? sum : ops::reshape(sum, sum.shape().slice(extra_axes, sum.rank()));
}

std::string shapes_text(std::span<const TensorSpec> specs) {
  std::string text;
  for (size_t i = 0; i < specs.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == specs.size() ? " and " : ", ") + to_text(specs[i].shape);
  }
  return text;
}

bool sums_nothing(const Tensor& a, const Tensor& b) {
  auto is_empty = [](const Tensor& t) {
    return std::find(t.shape().begin(), t.shape().end(), 0) != t.shape().end();
  };
  return is_empty(a) || is_empty(b);
}

void expect_floating(std::string_view op, DType dtype) {
  if (!is_floating(dtype)) fail(op, ": expected a floating dtype, got ", dtype);
}

void expect_rank_at_least(std::string_view op, const Shape& shape, int rank) {
  if (shape.rank() < rank) fail(op, ": expected at least ", rank, " axes, got shape ", shape);
}

void expect_one_per_axis(std::string_view op, size_t element_count, const Shape& shape,
                         std::string_view element_noun) {
  if (static_cast<int>(element_count) != shape.rank()) {
    fail(op, ": expected a ", element_noun, " for each of the ", shape.rank(), " axes of shape ",
         shape, ", got ", element_count);
  }
}

int normal_axis(std::string_view op, int axis, const Shape& shape) {
  const int nonnegative_axis = axis < 0 ? axis + shape.rank() : axis;
  if (nonnegative_axis < 0 || nonnegative_axis >= shape.rank())
    fail(op, ": axis ", axis, " is out of range for shape ", shape);
  return nonnegative_axis;
}

std::vector<int> normal_axes(std::string_view op, const std::vector<int>& axes,
                             const Shape& shape) {
  std::vector<int> result;
  if (axes.empty()) {
    result.resize(shape.rank());
    std::iota(result.begin(), result.end(), 0);
    return result;
  }
  for (int axis : axes) result.push_back(normal_axis(op, axis, shape));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    fail(op, ": an axis is given twice");
  return result;
}

/// Scatters `updates` into a flat tensor, in which each row along `axis` occupies its own range, so
/// that one scatter op handles all rows.
Tensor scatter_along(const Tensor& indices, const Tensor& updates, const Shape& shape, int axis) {
  if (!shape.is_known() || !updates.shape().is_known())
    return Tensor::abstract({updates.dtype(), shape});
  const int last_axis = shape.rank() - 1;
  axis = shape.axis(axis);
  Shape swapped_shape = shape;
  swapped_shape.set(axis, shape[last_axis]);
  swapped_shape.set(last_axis, shape[axis]);
  const int64_t n = shape[axis], k = updates.dim(axis), rows = n == 0 ? 0 : shape.size() / n;
  const Tensor index_rows = ops::reshape(ops::swap_axes(indices, axis, last_axis), {rows, k});
  const Tensor values = ops::reshape(ops::swap_axes(updates, axis, last_axis), {rows * k});
  const Tensor starts = ops::multiply(ops::reshape(ops::arange(rows, DType::int64), {rows, 1}), n);
  const Tensor element_numbers =
      ops::reshape(ops::add(ops::cast(index_rows, DType::int64), starts), {rows * k});
  ScatterAdd scatter;
  scatter.size = rows * n;
  const Tensor flat_result = apply1(scatter, {element_numbers, values});
  return ops::swap_axes(ops::reshape(flat_result, swapped_shape), axis, last_axis);
}

DType product_dtype(std::string_view op, DType a, DType b) {
  if (a != b) fail(op, ": dtypes ", a, " and ", b, " differ");
  return a;
}

int64_t known_size(const Shape& shape) { return shape.is_known() ? shape.size() : -1; }

Tensor as_rows(const Tensor& x) {
  return ops::reshape(x, {known_size(x.shape().slice(0, -1)), x.dim(-1)});
}

Tensor as_floating(const Tensor& x, DType dtype) {
  return is_integer(x.dtype()) || x.dtype() == DType::boolean ? ops::cast(x, dtype) : x;
}

}  // namespace crescent
