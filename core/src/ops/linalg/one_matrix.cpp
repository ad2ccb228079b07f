// QR and singular value decomposition of a single matrix, computed in the dtype of the matrix.
#include "program/support.h"

namespace crescent {
namespace {

/// The number m of rows and n of columns of a matrix, and k, the smaller of both.
struct MatrixDims {
  int64_t m, n, k;
};

MatrixDims matrix_dims(std::string_view op, const TensorSpec& a) {
  if (a.shape.rank() != 2) fail(op, ": expected a matrix, got shape ", a.shape);
  expect_floating(op, a.dtype);
  const int64_t m = a.shape[0], n = a.shape[1];
  return {m, n, m < 0 || n < 0 ? -1 : std::min(m, n)};
}

}  // namespace

TensorSpecs Qr::infer(std::span<const TensorSpec> in) const {
  const auto [m, n, k] = matrix_dims("qr", in[0]);
  return {{in[0].dtype, {m, k}}, {in[0].dtype, {k, n}}};
}

TensorSpecs Svd::infer(std::span<const TensorSpec> in) const {
  const auto [m, n, k] = matrix_dims("svd", in[0]);
  return {{in[0].dtype, {m, k}}, {in[0].dtype, {k}}, {in[0].dtype, {k, n}}};
}

namespace ops {

QrResult qr(const Tensor& a) {
  Tensors results = apply(Qr{}, {as_floating(a)});
  return {results[0], results[1]};
}

SvdResult svd(const Tensor& a) {
  Tensors results = apply(Svd{}, {as_floating(a)});
  return {results[0], results[1], results[2]};
}

}  // namespace ops
}  // namespace crescent
