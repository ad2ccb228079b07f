// Matrix products.
#include "program/support.h"

namespace crescent {
namespace {

Tensor matmul_op(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  Matmul op;
  op.transpose_a = transpose_a;
  op.transpose_b = transpose_b;
  return apply1(op, {a, b});
}

bool are_int8(DType a, DType b) { return a == DType::int8 && b == DType::int8; }

/// Returns the elements from `first` to before `last` along `axis`, the axis that the product sums
/// over, as float32.
Tensor slice_as_float(const Tensor& x, int axis, int64_t first, int64_t last) {
  return ops::cast(ops::slice_axis(x, axis, first, last), DType::float32);
}

/// The product of matrices of 8-bit integers as a sum of float32 products, each of which sums up to
/// 1,024 terms and is therefore exact: float32 represents all integers up to 2^24.
Tensor product_of_int8(const Matmul& op, const Tensor& a, const Tensor& b) {
  constexpr int64_t kExactTerms = (1 << 24) / (128 * 128);
  const int inner_axis_a = op.transpose_a ? -2 : -1, inner_axis_b = op.transpose_b ? -1 : -2;
  const int64_t term_count = a.dim(inner_axis_a);
  Tensor sum;
  for (int64_t first = 0; first < term_count; first += kExactTerms) {
    const int64_t chunk_end = std::min(term_count, first + kExactTerms);
    const Tensor partial_product =
        ops::cast(matmul_op(slice_as_float(a, inner_axis_a, first, chunk_end),
                            slice_as_float(b, inner_axis_b, first, chunk_end), op.transpose_a,
                            op.transpose_b),
                  DType::int32);
    sum = sum ? sum + partial_product : partial_product;
  }
  return sum;
}

}  // namespace

std::string Matmul::label() const {
  return concat("matmul ", transpose_a ? "a'" : "a", transpose_b ? "b'" : "b");
}

TensorSpecs Matmul::infer(std::span<const TensorSpec> in) const {
  const Shape &a = in[0].shape, &b = in[1].shape;
  auto fail_mismatch = [&](const auto&... reason) {
    fail("matmul: shapes ", a, " and ", b, " do not fit: ", reason...);
  };
  if (a.rank() < 2 || b.rank() < 2) fail_mismatch("both need at least 2 axes");
  const DType dtype = are_int8(in[0].dtype, in[1].dtype)
                          ? DType::int32
                          : product_dtype("matmul", in[0].dtype, in[1].dtype);
  if (in[0].dtype == DType::boolean) fail("matmul: expected numbers, got bool");
  const int64_t rows = a[transpose_a ? -1 : -2], inner_size_a = a[transpose_a ? -2 : -1];
  const int64_t inner_size_b = b[transpose_b ? -1 : -2], columns = b[transpose_b ? -2 : -1];
  if (inner_size_a >= 0 && inner_size_b >= 0 && inner_size_a != inner_size_b) {
    fail_mismatch("rows of ", inner_size_a, " elements against columns of ", inner_size_b);
  }
  const Shape batch_shape = broadcast_shapes(a.slice(0, -2), b.slice(0, -2), "matmul");
  return {{dtype, batch_shape.concat({rows, columns})}};
}

Tensors Matmul::decompose(std::span<const Tensor> inputs) const {
  if (!sums_nothing(inputs[0], inputs[1]))
    return are_int8(inputs[0].dtype(), inputs[1].dtype())
               ? Tensors{product_of_int8(*this, inputs[0], inputs[1])}
               : Tensors{};
  const TensorSpec specs[] = {inputs[0].spec(), inputs[1].spec()}, result = infer(specs)[0];
  return {ops::zeros(result.shape, result.dtype)};
}

Tensors Matmul::vjp(const Vjp& v) const {
  const Tensor &a = v.inputs[0], &b = v.inputs[1], &g = v.gradients[0];
  Tensors result(2);
  if (v.wanted[0]) {
    const Tensor da =
        transpose_a ? matmul_op(b, g, transpose_b, true) : matmul_op(g, b, false, !transpose_b);
    result[0] = sum_to(da, a.shape());
  }
  if (v.wanted[1]) {
    const Tensor db =
        transpose_b ? matmul_op(g, a, true, transpose_a) : matmul_op(a, g, !transpose_a, false);
    result[1] = sum_to(db, b.shape());
  }
  return result;
}

namespace ops {

/// As in NumPy, a vector is a row if it is the left operand and a column if it is the right one. A
/// batch of matrices times a single matrix is computed as one product.
Tensor matmul(const Tensor& left, const Tensor& right, bool transpose_a, bool transpose_b) {
  const DType dtype = promote(left.dtype(), right.dtype());
  if (dtype == DType::boolean)  // an element is true if both factors of any term are true
    return cast(
        matmul(cast(left, DType::uint8), cast(right, DType::uint8), transpose_a, transpose_b),
        dtype);
  const Tensor a = cast(left, dtype), b = cast(right, dtype);
  if (a.rank() == 0 || b.rank() == 0)
    fail("matmul: shapes ", a.shape(), " and ", b.shape(), " do not fit: a scalar has no rows");
  if (a.rank() == 1)
    return squeeze(matmul(reshape(a, {1, a.dim(0)}), b, false, transpose_b),
                   b.rank() == 1 ? -1 : -2);
  if (b.rank() == 1) return squeeze(matmul(a, reshape(b, {b.dim(0), 1}), transpose_a, false), -1);
  if (a.rank() == 2 || b.rank() > 2 || transpose_a)
    return matmul_op(a, b, transpose_a, transpose_b);
  const Tensor y = matmul_op(as_rows(a), b, false, transpose_b);
  return reshape(y, a.shape().slice(0, -1).concat({y.dim(-1)}));
}

}  // namespace ops
}  // namespace crescent
