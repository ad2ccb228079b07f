// Writing elements by index, and slices whose position is a tensor.
#include "crescent/ops/indexing.h"
#include "ops/arrangement/positions.h"
#include "ops/arrangement/segments.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

void expect_starts(const char* name, const Tensor& x, const Tensor& start) {
  if (start.rank() != 1 || start.dim(0) != x.rank())
    fail(name, ": expected a start for each axis of shape ", x.shape(), ", got shape ",
         start.shape());
}

/// Returns `size` consecutive indices that begin at start[axis]. If they would begin below 0 or end
/// beyond `axis_size`, they are shifted so that all lie within the axis.
Tensor indices_from(const Tensor& start, int axis, int64_t size, int64_t axis_size) {
  const Tensor axis_start = ops::slice_axis(start, 0, axis, axis + 1);
  return ops::clip(axis_start, 0, axis_size - size) + ops::arange(size);
}

/// The last axis of `indices` (..., k) has an index for each of the first k axes of `shape`.
/// Converts these indices to row numbers of an array in which the k axes are flattened.
Tensor row_numbers(const char* name, const Tensor& indices, const Shape& shape) {
  const int64_t k = indices.rank() == 0 ? 0 : indices.dim(-1);
  if (k < 1 || k > shape.rank())
    fail(name, ": indices of shape ", indices.shape(), " do not fit shape ", shape);
  Tensor row_number;
  int i = 0;
  for (const Tensor& axis_indices : ops::split(indices, std::vector<int64_t>(k, 1), -1)) {
    const Tensor axis_index =
        ops::check_indices(nonnegative_indices(ops::squeeze(axis_indices, -1), shape[i]), shape[i],
                           concat(name, ": index"), concat("axis ", i, " of shape ", shape));
    row_number = row_number ? row_number * shape[i] + axis_index : axis_index;
    ++i;
  }
  return ops::reshape(row_number, {-1});
}

struct RowUpdates {
  Tensor row_indices, updates;
  int64_t row_count;
  Shape row_shape;
};

RowUpdates row_updates(const char* name, const Tensor& indices, const Tensor& updates,
                       const Shape& shape) {
  const auto k = static_cast<int>(indices.dim(-1));
  const Tensor row_indices = row_numbers(name, indices, shape);
  const Shape row_shape = shape.slice(k, shape.rank());
  return {row_indices, ops::reshape(updates, Shape{row_indices.dim(0)}.concat(row_shape)),
          shape.slice(0, k).size(), row_shape};
}

}  // namespace

Tensor slice(const Tensor& x, const Tensor& start, const std::vector<int64_t>& sizes) {
  expect_starts("slice", x, start);
  if (sizes.size() != static_cast<size_t>(x.rank()))
    fail("slice: expected a start and a size for each axis of shape ", x.shape());
  Tensor result = x;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t size = sizes[i];
    if (size < 0 || size > x.dim(i))
      fail("slice: ", size, " elements do not fit axis ", i, " of shape ", x.shape());
    result = ops::gather(result, indices_from(start, i, size, x.dim(i)), i);
  }
  return result;
}

Tensor slice_update(const Tensor& x, const std::vector<int64_t>& start, const Tensor& updates) {
  if (static_cast<int>(start.size()) != x.rank() || updates.rank() != x.rank())
    fail("slice_update: expected a start for each axis of shape ", x.shape(),
         " and updates of as many axes, got ", updates.shape());
  return with_replaced_part(x, ops::cast(updates, x.dtype()), start);
}

Tensor slice_update(const Tensor& x, const Tensor& start, const Tensor& updates) {
  expect_starts("slice_update", x, start);
  if (updates.rank() != x.rank())
    fail("slice_update: expected a start for each axis of shape ", x.shape(),
         " and updates of as many axes, got ", updates.shape());
  Tensors axis_indices;
  for (int i = 0; i < x.rank(); ++i) {
    if (updates.dim(i) > x.dim(i))
      fail("slice_update: updates of shape ", updates.shape(), " do not fit shape ", x.shape());
    Shape shape(std::vector<int64_t>(x.rank(), 1));
    shape.set(i, updates.dim(i));
    const Tensor positions = indices_from(start, i, updates.dim(i), x.dim(i));
    axis_indices.push_back(ops::broadcast_to(ops::reshape(positions, shape), updates.shape()));
  }
  return scatter_update(x, ops::stack(axis_indices, -1), updates, std::nullopt);
}

Tensor scatter(const Tensor& indices, const Tensor& values, const Shape& shape) {
  const RowUpdates rows = row_updates("scatter", indices, values, shape);
  return ops::reshape(sum_of_segments(rows.updates, rows.row_indices, rows.row_count), shape);
}

Tensor scatter_update(const Tensor& x, const Tensor& indices, const Tensor& updates,
                      const std::optional<std::string>& reduction) {
  const RowUpdates rows =
      row_updates("scatter_update", indices, ops::cast(updates, x.dtype()), x.shape());
  if (rows.row_indices.dim(0) == 0) return x;
  const auto reduce_segments = [&](SegmentKind kind) {
    return ops::reshape(segment(kind, rows.updates, rows.row_indices, rows.row_count), x.shape());
  };
  if (!reduction) {
    // If a row has several updates, the last one wins.
    const Tensor update_numbers = ops::arange(rows.row_indices.dim(0)) + 1;
    const Tensor last_update_numbers = ops::maximum(
        segment(SegmentKind::max, update_numbers, rows.row_indices, rows.row_count), 0);
    const Tensor last_updates =
        ops::gather(rows.updates, ops::maximum(last_update_numbers - 1, 0), 0);
    Shape mask_shape = Shape{rows.row_count};
    for (int i = 0; i < rows.row_shape.rank(); ++i) mask_shape.append(1);
    const Tensor old_rows = ops::reshape(x, Shape{rows.row_count}.concat(rows.row_shape));
    return ops::reshape(ops::where(ops::greater(ops::reshape(last_update_numbers, mask_shape), 0),
                                   last_updates, old_rows),
                        x.shape());
  }
  const auto in_dtype_of_x = [&](const Tensor& result) { return ops::cast(result, x.dtype()); };
  if (*reduction == "add")
    return in_dtype_of_x(
        x +
        ops::reshape(sum_of_segments(rows.updates, rows.row_indices, rows.row_count), x.shape()));
  if (*reduction == "mul") return in_dtype_of_x(x * reduce_segments(SegmentKind::prod));
  if (*reduction == "max") return ops::maximum(x, reduce_segments(SegmentKind::max));
  if (*reduction == "min") return ops::minimum(x, reduce_segments(SegmentKind::min));
  const std::vector<std::string> reduction_names{"add", "mul", "max", "min"};
  fail("scatter_update: unknown reduction '", *reduction, "'",
       did_you_mean(*reduction, reduction_names));
}

}  // namespace crescent::ops
