// QR decomposition.
#include "ops/linalg/matrices.h"

namespace crescent {

TensorSpecs BatchedQr::infer(std::span<const TensorSpec> in) const {
  const Shape& shape = in[0].shape;
  const Shape batch_shape = shape.slice(0, shape.rank() - 2);
  const int64_t m = shape[-2], n = shape[-1], k = complete ? m : std::min(m, n);
  return {{DType::float64, batch_shape.concat({m, k})},
          {DType::float64, batch_shape.concat({k, n})}};
}
/// Decomposes a single matrix by the op Qr, whose kernel runs on all threads.
Tensors BatchedQr::decompose(std::span<const Tensor> in) const {
  const Shape& a = in[0].shape();
  if (complete || a.rank() != 2) return {};
  const ops::QrResult result = ops::qr(in[0]);
  return {result.q, result.r};
}

namespace {

/// The symmetric matrix whose lower triangle is that of x.
Tensor symmetric_from_lower(const Tensor& x) {
  const Tensor offset = offsets_from_diagonal(x.dim(-1));
  const Tensor below_diagonal = ops::where(ops::less(offset, 0), x, 0.0);
  return below_diagonal + transposed(below_diagonal) + ops::where(ops::equal(offset, 0), x, 0.0);
}

/// The gradient for a = q r with a square r: (gq + q m) r^-T, where m is the symmetric matrix with
/// the lower triangle of r gr' - gq' q (Walter and Lehmann, 2018).
Tensor gradient_of_square(const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  const Tensor m =
      symmetric_from_lower(ops::matmul(r, gr, false, true) - ops::matmul(gq, q, true, false));
  return transposed(triangular_solution(r, transposed(gq + ops::matmul(q, m)), false));
}

}  // namespace

/// If a has more columns than rows, it consists of a square x and the other columns y. Then x = q u
/// is the decomposition of x, and r = (u, q' y).
Tensors BatchedQr::vjp(const Vjp& v) const {
  const Tensor &a = v.inputs[0], &q = v.outputs[0], &r = v.outputs[1];
  const int64_t m = a.dim(-2), n = a.dim(-1);
  if (q.dim(-1) > n)
    fail("qr: with mode='complete' there is no gradient of more rows than columns, got shape ",
         a.shape());
  const Tensor gq = v.gradients[0] ? v.gradients[0] : ops::zeros_like(q),
               gr = v.gradients[1] ? v.gradients[1] : ops::zeros_like(r);
  if (m >= n) return {gradient_of_square(q, r, gq, gr)};
  const Tensor y = ops::slice_axis(a, -1, m, n), gv = ops::slice_axis(gr, -1, m, n);
  const Tensor gx =
      gradient_of_square(q, ops::slice_axis(r, -1, 0, m), gq + ops::matmul(y, gv, false, true),
                         ops::slice_axis(gr, -1, 0, m));
  return {ops::concatenate(Tensors{gx, ops::matmul(q, gv)}, -1)};
}

namespace ops {

QrResult qr(const Tensor& x, const std::string& mode) {
  expect_matrices("qr", x);
  if (mode != "reduced" && mode != "complete")
    fail("qr: mode must be 'reduced' or 'complete', got '", mode, "'");
  BatchedQr op;
  op.complete = mode == "complete";
  const Tensors result = apply(op, {as_float64(x)});
  return {in_dtype_of(result[0], x), in_dtype_of(result[1], x)};
}

}  // namespace ops
}  // namespace crescent
