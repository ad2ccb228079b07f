// Diagonals and triangles of matrices.
#include <cstring>

#include "crescent/ops/creation.h"
#include "ops/functions/array_ops.h"
#include "program/large_results.h"

namespace crescent::ops {
namespace {

/// Limits k so that diagonal k is at most one diagonal outside of the matrix, where it is empty.
int64_t clamped_diagonal(int64_t k, int64_t rows, int64_t columns) {
  return std::max(std::min(k, columns), -rows);
}

/// For each element of a matrix, applies the comparison to two column indices: that of the element,
/// and that of the k-th diagonal in the same row.
template <class Test>
Tensor diagonal_mask(int64_t rows, int64_t columns, int64_t k, Test comparison) {
  k = clamped_diagonal(k, rows, columns);
  return comparison(positions(columns, 1, 2), positions(rows, 0, 2) + k);
}

}  // namespace

Tensor diagonal(const Tensor& input, int64_t offset, int axis1, int axis2) {
  const int first_axis = axis_of(input, axis1), second_axis = axis_of(input, axis2);
  if (first_axis == second_axis) fail("diagonal: the axes must differ, got ", axis1, " twice");
  std::vector<int> order;
  for (int i = 0; i < input.rank(); ++i)
    if (i != first_axis && i != second_axis) order.push_back(i);
  order.push_back(first_axis);
  order.push_back(second_axis);
  const Tensor x = ops::transpose(input, order);
  const int64_t rows = x.dim(-2), columns = x.dim(-1);
  if (rows < 0 || columns < 0)
    fail("diagonal: the size of both axes must be known, got shape ", input.shape());
  offset = clamped_diagonal(offset, rows, columns);
  const int64_t first_row = std::max<int64_t>(0, -offset),
                first_column = std::max<int64_t>(0, offset);
  const int64_t count = std::max<int64_t>(0, std::min(rows - first_row, columns - first_column));
  const Tensor flat_matrices =
      ops::reshape(x, x.shape().slice(0, x.rank() - 2).concat({rows * columns}));
  if (count == 0) return ops::slice_axis(flat_matrices, -1, 0, 0);
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i)
    indices.push_back((first_row + i) * columns + first_column + i);
  return ops::gather(flat_matrices, Tensor::from(indices, {count}), -1);
}

Tensor trace(const Tensor& x, int64_t offset, int axis1, int axis2) {
  return ops::sum(diagonal(x, offset, axis1, axis2), {-1});
}

Tensor eye(int64_t n, std::optional<int64_t> m, int64_t k, std::optional<DType> dtype) {
  const int64_t columns = m.value_or(n);
  if (n < 0 || columns < 0) fail("eye: expected sizes of at least 0, got ", n, " and ", columns);
  k = clamped_diagonal(k, n, columns);
  const TensorSpec spec{dtype.value_or(floatx()), {n, columns}};
  if (LargeResultsAbstract::includes(spec.shape)) return Tensor::abstract(spec);
  Tensor result(spec.shape, spec.dtype);
  const Tensor one_element = Tensor::scalar(1, result.dtype());
  const auto element_bytes = static_cast<int64_t>(size_of(result.dtype()));
  for (int64_t row = std::max<int64_t>(0, -k); row < n && row + k < columns; ++row)
    std::memcpy(result.storage()->host() + (row * columns + row + k) * element_bytes,
                one_element.raw(), one_element.bytes());
  return result;
}

Tensor identity(int64_t n, DType dtype) { return eye(n, std::nullopt, 0, dtype); }

Tensor tri(int64_t n, std::optional<int64_t> m, int64_t k, std::optional<DType> dtype) {
  if (n < 0 || m.value_or(0) < 0)
    fail("tri: expected sizes of at least 0, got ", n, " and ", m.value_or(n));
  return ops::cast(diagonal_mask(n, m.value_or(n), k, ops::less_equal), dtype.value_or(floatx()));
}

Tensor tril(const Tensor& x, int64_t k) {
  const Tensor mask = diagonal_mask(x.dim(-2), x.dim(-1), k, ops::less_equal);
  return ops::where(mask, x, number_like(x, 0));
}
Tensor triu(const Tensor& x, int64_t k) {
  const Tensor mask = diagonal_mask(x.dim(-2), x.dim(-1), k, ops::greater_equal);
  return ops::where(mask, x, number_like(x, 0));
}

Tensor diagflat(const Tensor& input, int64_t k) {
  const Tensor x = ops::reshape(input, {-1});
  if (x.dim(0) < 0) fail("diagflat: the size must be known, got shape ", input.shape());
  constexpr int64_t kMaxOffset = int64_t{1} << 30;
  if (k < -kMaxOffset || k > kMaxOffset)
    fail("diagflat: expected k from ", -kMaxOffset, " to ", kMaxOffset, ", got ", k);
  const int64_t n = x.dim(0), size = n + std::abs(k);
  if (n == 0) return ops::zeros({size, size}, x.dtype());
  // In the flattened matrix, successive elements of a diagonal are size + 1 elements apart, so
  // `size` zeros are put between them.
  Pad op;
  op.inner = {size}, op.before = {k < 0 ? -k * size : k};
  op.after = {size * size - op.before[0] - ((n - 1) * (size + 1) + 1)};
  return ops::reshape(apply1(op, {x}), {size, size});
}

Tensor diag(const Tensor& x, int64_t k) {
  if (x.rank() == 1) return diagflat(x, k);
  if (x.rank() == 2) return diagonal(x, k, 0, 1);
  fail("diag: expected one or two axes, got shape ", x.shape());
}

}  // namespace crescent::ops
