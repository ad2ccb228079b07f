// Factorisations of matrices.
#include "crescent/ops.h"

namespace crescent {
namespace {

/// (rows, columns) of the one input; fails when it is no floating matrix.
Shape matrix_of(std::span<const TensorSpec> inputs, const char* op) {
  const TensorSpec& a = inputs[0];
  if (a.shape.rank() != 2 || !is_floating(a.dtype)) fail(op, ": expected a floating matrix of 2 axes, got ", a);
  return a.shape;
}

int64_t smaller(const Shape& matrix) { return matrix.is_known() ? std::min(matrix[0], matrix[1]) : -1; }

}  // namespace

TensorSpecs Qr::infer(std::span<const TensorSpec> inputs) const {
  const Shape a = matrix_of(inputs, "qr");
  const int64_t k = smaller(a);
  return {{inputs[0].dtype, {a[0], k}}, {inputs[0].dtype, {k, a[1]}}};
}

TensorSpecs Svd::infer(std::span<const TensorSpec> inputs) const {
  const Shape a = matrix_of(inputs, "svd");
  const int64_t k = smaller(a);
  const DType dtype = inputs[0].dtype;
  return {{dtype, {a[0], k}}, {dtype, {k}}, {dtype, {k, a[1]}}};
}

ops::QrResult ops::qr(const Tensor& a) {
  const Tensors r = apply(Qr{}, {a});
  return {r[0], r[1]};
}

ops::SvdResult ops::svd(const Tensor& a) {
  const Tensors r = apply(Svd{}, {a});
  return {r[0], r[1], r[2]};
}

}  // namespace crescent
