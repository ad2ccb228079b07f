// What the matmul kernels share: the products of one request, and what happens to a result before it is stored.
#pragma once
#include <vector>

#include "kernel.h"

namespace crescent::cpu {

/// A matmul as `count()` products of (m,k) and (k,n) matrices. Where one b serves every a, the leading axes of a are
/// folded into m.
struct MatmulPlan {
  explicit MatmulPlan(const Request& request);

  bool transpose_a, transpose_b, bias;
  Epilogue epilogue;
  int64_t m, n, k;
  std::vector<int64_t> a, b;             ///< where the matrices of product i begin, in elements; product i of c is at i m n

  int64_t count() const { return static_cast<int64_t>(a.size()); }
  int64_t lda() const { return transpose_a ? m : k; }
  int64_t ldb() const { return transpose_b ? k : n; }
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                                static_cast<double>(count()); }
};

/// c (rows, columns) = epilogue(c + bias); bias may be null.
template <class T>
void finish(T* c, int64_t rows, int64_t columns, int64_t ldc, const T* bias, Epilogue epilogue);

/// sum += part, elementwise.
template <class T>
void accumulate(T* sum, const T* part, int64_t count);

std::unique_ptr<Kernel> make_direct_matmul(const Request& request);    // few operations, or a single row
std::unique_ptr<Kernel> make_tiled_matmul(const Request& request);     // float32, float64
std::unique_ptr<Kernel> make_integer_matmul(const Request& request);

}  // namespace crescent::cpu
