// QR decompositions of small matrices, by Householder reflections.
#include <cmath>

#include "batches.h"
#include "crescent/program/linalg_op_types.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

struct QrLoop {
  explicit QrLoop(const BatchedQr&) {}
  /// The scratch memory has room for the matrix, the complete q and one reflection.
  int64_t work_size(const Shape& a) const { return a[-2] * (a[-1] + a[-2] + 1); }
  void compute_one(const MatrixParts& x, double* work) const {
    const int64_t m = x.in[0].rows, n = x.in[0].columns;
    const Matrix a{work, m, n}, turn{work + m * n, m, m};
    copy(x.in[0], a);
    reflect(a, turn, turn.values + m * m, x.out[0], x.out[1]);
  }

 private:
  /// Reduces a to an upper triangular matrix by Householder reflections, whose product is `turn`,
  /// and copies the factors to q and r. w is scratch memory for m numbers.
  static void reflect(const Matrix& a, const Matrix& turn, double* w, const Matrix& q,
                      const Matrix& r) {
    const int64_t m = a.rows, n = a.columns;
    std::fill_n(turn.values, m * m, 0.0);
    for (int64_t i = 0; i < m; ++i) turn(i, i) = 1;
    for (int64_t k = 0; k < std::min(m - 1, n); ++k) {
      double norm = 0;
      for (int64_t i = k; i < m; ++i) norm = std::hypot(norm, a(i, k));
      if (norm == 0) continue;
      double square = 0;
      for (int64_t i = k; i < m; ++i) {
        w[i] = a(i, k) + (i == k ? std::copysign(norm, a(k, k)) : 0);
        square += w[i] * w[i];
      }
      const auto apply_to = [&](const Matrix& x, bool columns) {
        for (int64_t j = 0; j < (columns ? x.columns : x.rows); ++j) {
          double dot = 0;
          for (int64_t i = k; i < m; ++i) dot += w[i] * (columns ? x(i, j) : x(j, i));
          for (int64_t i = k; i < m; ++i) (columns ? x(i, j) : x(j, i)) -= 2 * dot / square * w[i];
        }
      };
      apply_to(a, true);
      apply_to(turn, false);
    }
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < q.columns; ++j) q(i, j) = turn(i, j);
    for (int64_t i = 0; i < r.rows; ++i)
      for (int64_t j = 0; j < n; ++j) r(i, j) = j < i ? 0 : a(i, j);
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
    constexpr int64_t kLarge = 48;  ///< matrices with more rows or columns are large
    const Shape& a = r.inputs[0].shape;
    const bool decomposes = a.rank() == 2 && !r.op_as<BatchedQr>()->complete;
    if (decomposes && std::max(a[0], a[1]) >= kLarge) return false;
    return MatricesKernel::prepare(r);
  }
};

}  // namespace

CRESCENT_REGISTER(qr_kernel) { registry.add<BatchedQrKernel>(BatchedQr::kName); }

}  // namespace crescent::operations
