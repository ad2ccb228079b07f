// QR decompositions of small matrices, by Householder reflections.
#include <cmath>

#include "batches.h"
#include "crescent/program/linalg_op_types.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

struct QrLoop {
  explicit QrLoop(const BatchedQr&) {}
  /// The scratch memory has room for the augmented matrix, one reflection, and its products.
  int64_t work_size(const Shape& a) const {
    const int64_t columns = a[-1] + a[-2];
    return a[-2] * (columns + 1) + columns;
  }
  void compute_one(const MatrixParts& x, double* work) const {
    const Matrix &a = x.in[0], &q = x.out[0], &r = x.out[1];
    const int64_t m = a.rows, n = a.columns;
    const Matrix augmented{work, m, n + m};
    for (int64_t i = 0; i < m; ++i) {
      std::copy_n(&a(i, 0), n, &augmented(i, 0));
      std::fill_n(&augmented(i, n), m, 0.0);
      augmented(i, n + i) = 1;
    }
    triangulate(augmented, n, work + m * (n + m));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < q.columns; ++j) q(i, j) = augmented(j, n + i);
    for (int64_t i = 0; i < r.rows; ++i)
      for (int64_t j = 0; j < n; ++j) r(i, j) = j < i ? 0 : augmented(i, j);
  }

 private:
  /// Makes the first n columns of (a, 1) upper triangular by Householder reflections of all
  /// columns, which turn the identity matrix into q'. `work` has room for a row and a column.
  static void triangulate(const Matrix& augmented, int64_t n, double* work) {
    double *w = work, *products = work + augmented.rows;
    for (int64_t k = 0; k < std::min(augmented.rows - 1, n); ++k) {
      const double square = make_reflection(augmented, k, w);
      if (square != 0) reflect(augmented, k, w, 2 / square, products);
    }
  }
  /// Sets w to the vector of the reflection that makes the elements of column k below the diagonal
  /// zero, divided by the largest of them, so that squares neither overflow nor underflow. Returns
  /// w'w, which is 0 if the elements are zero already.
  static double make_reflection(const Matrix& augmented, int64_t k, double* w) {
    double largest = 0, magnitude_sum = 0, square = 0;
    for (int64_t i = k; i < augmented.rows; ++i) {
      const double magnitude = std::abs(augmented(i, k));
      largest = std::max(largest, magnitude), magnitude_sum += magnitude;
    }
    if (magnitude_sum == 0) return 0;
    for (int64_t i = k; i < augmented.rows; ++i)
      w[i] = augmented(i, k) / largest, square += w[i] * w[i];
    const double norm = std::sqrt(square), first = w[k];
    w[k] += std::copysign(norm, first);
    return 2 * (square + std::abs(first) * norm);
  }
  /// Subtracts w (scale w'x) from the columns x from column k on.
  static void reflect(const Matrix& augmented, int64_t k, const double* w, double scale,
                      double* __restrict products) {
    std::fill(products + k, products + augmented.columns, 0.0);
    for (int64_t i = k; i < augmented.rows; ++i) {
      const double* row = &augmented(i, 0);
      for (int64_t j = k; j < augmented.columns; ++j) products[j] += w[i] * row[j];
    }
    for (int64_t i = k; i < augmented.rows; ++i) {
      const double factor = scale * w[i];
      double* row = &augmented(i, 0);
      for (int64_t j = k; j < augmented.columns; ++j) row[j] -= factor * products[j];
    }
  }
};

/// The kernel for small matrices. It refuses large matrices, for which the op is decomposed into
/// other ops.
class BatchedQrKernel final : public MatricesKernel<BatchedQr, QrLoop> {
 public:
  static void describe(Schema<BatchedQrKernel>& s) {
    s.doc("Runs on several threads, each with some matrices.");
  }
  bool prepare(const CpuRequest& r) override {
    constexpr int64_t kMinLargeSize = 48;  ///< matrices with more rows or columns are large
    const Shape& a = r.inputs[0].shape;
    const bool decomposes = a.rank() == 2 && !r.op_as<BatchedQr>()->complete;
    if (decomposes && std::max(a[0], a[1]) >= kMinLargeSize) return false;
    return MatricesKernel::prepare(r);
  }
};

}  // namespace

CRESCENT_REGISTER(qr_kernel) { registry.add<BatchedQrKernel>(BatchedQr::kName); }

}  // namespace crescent::operations
