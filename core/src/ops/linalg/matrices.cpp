#include "ops/linalg/matrices.h"

#include <algorithm>

namespace crescent {

void expect_square(const char* name, const Shape& shape) {
  const bool is_known = shape.rank() >= 2 && shape[-1] >= 0 && shape[-2] >= 0;
  if (shape.rank() < 2 || (is_known && shape[-1] != shape[-2]))
    fail(name, ": expected square matrices, got shape ", shape);
}

void expect_matrices(const char* name, const Tensor& x) {
  if (x.rank() < 2 || x.dim(-1) < 0 || x.dim(-2) < 0)
    fail(name, ": expected matrices of a known size, got shape ", x.shape());
}

DType factorization_dtype(const Tensor& x) {
  constexpr int64_t kMinLargeSize = 128;  // the fewest rows and columns of a large matrix
  const bool is_large = x.rank() >= 2 && std::min(x.dim(-2), x.dim(-1)) >= kMinLargeSize;
  return is_large && x.dtype() == DType::float32 ? DType::float32 : DType::float64;
}

Tensor offsets_from_diagonal(int64_t n) {
  return ops::positions(n, 1, 2) - ops::positions(n, 0, 2);
}

Tensor identity_like(const Tensor& x) {
  return ops::broadcast_to(ops::eye(x.dim(-1), x.dim(-1), x.dtype()), x.shape());
}

}  // namespace crescent
