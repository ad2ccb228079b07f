// Matrix products: matmul with transposes and broadcast leading axes, and dot.
#include "broadcast_gradient.h"

namespace crescent {
namespace {

/// (rows, columns) after the transpose.
struct Matrix {
  int64_t rows, columns;
};

Matrix matrix_of(const Shape& shape, bool transposed) {
  return transposed ? Matrix{shape[-1], shape[-2]} : Matrix{shape[-2], shape[-1]};
}

Tensor as_rows(const Tensor& x) { return ops::reshape(x, {-1, x.dim(-1)}); }

/// A weight of two axes under inputs of more: its gradient is one product over all rows, not one a batch.
bool is_shared_weight(const Tensor& a, const Tensor& b, bool transpose_a) { return b.rank() == 2 && a.rank() > 2 && !transpose_a; }

}  // namespace

TensorSpecs Matmul::infer(std::span<const TensorSpec> inputs) const {
  const TensorSpec &a = inputs[0], &b = inputs[1];
  if (a.shape.rank() < 2 || b.shape.rank() < 2) fail("matmul: expected at least 2 axes each, got shapes ", a.shape, " and ", b.shape);
  if (a.dtype != b.dtype) fail("matmul: dtypes differ: ", a.dtype, " and ", b.dtype);
  const Matrix left = matrix_of(a.shape, transpose_a), right = matrix_of(b.shape, transpose_b);
  if (left.columns >= 0 && right.rows >= 0 && left.columns != right.rows)
    fail("matmul: shapes ", a.shape, transpose_a ? " transposed" : "", " and ", b.shape, transpose_b ? " transposed" : "",
         " do not fit: the last axis of the first (", left.columns, ") must equal the second to last of the second (", right.rows, ")");
  Shape shape = broadcast_shapes(a.shape.slice(0, -2), b.shape.slice(0, -2), "matmul");
  shape.append(left.rows);
  shape.append(right.columns);
  if (bias && !inputs[2].shape.compatible({right.columns}))
    fail("matmul: expected a bias of shape (", right.columns, ",), got ", inputs[2].shape);
  return {{a.dtype, shape}};
}

Tensors Matmul::vjp(const Vjp& v) const {
  const Tensor &a = v.inputs[0], &b = v.inputs[1], &g = v.gradients[0];
  Tensors result(v.inputs.size());
  if (v.wanted[0]) {
    const Tensor da = transpose_a ? ops::matmul(b, g, transpose_b, true) : ops::matmul(g, b, false, !transpose_b);
    result[0] = sum_to(da, a.shape());
  }
  if (v.wanted[1]) {
    const bool shared = is_shared_weight(a, b, transpose_a);
    const Tensor left = shared ? as_rows(a) : a, up = shared ? as_rows(g) : g;
    const Tensor db = transpose_b ? ops::matmul(up, left, true, transpose_a) : ops::matmul(left, up, !transpose_a, false);
    result[1] = sum_to(db, b.shape());
  }
  return result;
}

namespace ops {

Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  if (a.rank() == 1 || b.rank() == 1) {                      // NumPy: a vector is a row on the left, a column on the right
    const Tensor left = a.rank() == 1 ? expand_dims(a, 0) : a, right = b.rank() == 1 ? expand_dims(b, 1) : b;
    Tensor y = matmul(left, right, a.rank() > 1 && transpose_a, b.rank() > 1 && transpose_b);
    if (b.rank() == 1) y = squeeze(y, y.rank() - 1);
    return a.rank() == 1 ? squeeze(y, b.rank() == 1 ? y.rank() - 1 : y.rank() - 2) : y;
  }
  const DType dtype = promote(a.dtype(), b.dtype());
  Matmul op;
  op.transpose_a = transpose_a;
  op.transpose_b = transpose_b;
  return apply1(op, {cast(a, dtype), cast(b, dtype)});
}

Tensor dot(const Tensor& x, const Tensor& w) {
  if (x.rank() < 1 || w.rank() < 1) fail("dot: expected at least 1 axis each, got shapes ", x.shape(), " and ", w.shape());
  if (x.rank() >= 2 && w.rank() == 2) return matmul(x, w);
  const Shape shape = x.shape().slice(0, -1).concat(w.shape().slice(1, w.rank()));
  return reshape(matmul(reshape(x, {-1, x.dim(-1)}), reshape(w, {w.dim(0), -1})), shape);
}

}  // namespace ops
}  // namespace crescent
