// Solutions of linear systems, and LU and Cholesky factors, of small matrices and of other matrices
// for which there is no LAPACK kernel.
#include <cmath>

#include "batches.h"
#include "crescent/program/linalg_op_types.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

struct TriangularLoop {
  explicit TriangularLoop(const TriangularSolve& op) : is_lower(op.lower) {}
  int64_t work_size(const Shape&) const { return 0; }
  void compute_one(const MatrixParts& x, double*) const {
    copy(x.in[1], x.out[0]);
    solve(x.in[0], x.out[0]);
  }

 private:
  void solve(const Matrix& a, const Matrix& b) const {
    for (int64_t k = 0; k < a.rows; ++k) {
      const int64_t i = is_lower ? k : a.rows - 1 - k;
      for (int64_t j = is_lower ? 0 : i + 1; j < (is_lower ? i : a.rows); ++j)
        for (int64_t c = 0; c < b.columns; ++c) b(i, c) -= a(i, j) * b(j, c);
      for (int64_t c = 0; c < b.columns; ++c) b(i, c) /= a(i, i);
    }
  }
  bool is_lower;
};

/// LU decomposition of `a` in place. pivots[i] is the row with which row i was exchanged. Returns
/// the sign of the permutation.
double decompose_lu(const Matrix& a, int32_t* pivots) {
  double sign = 1;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t pivot_row = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (std::abs(a(i, k)) > std::abs(a(pivot_row, k))) pivot_row = i;
    pivots[k] = static_cast<int32_t>(pivot_row);
    if (pivot_row != k) {
      sign = -sign;
      for (int64_t j = 0; j < a.columns; ++j) std::swap(a(k, j), a(pivot_row, j));
    }
    if (a(k, k) == 0) continue;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return sign;
}

struct LuLoop {
  explicit LuLoop(const Lu&) {}
  int64_t work_size(const Shape&) const { return 0; }
  void compute_one(const MatrixParts& x, double*) const {
    const Matrix& a = x.out[0];
    copy(x.in[0], a);
    double sign = decompose_lu(a, x.as<int32_t>(1)), log_determinant = 0;
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
      sign *= a(k, k) < 0 ? -1 : a(k, k) == 0 ? 0 : 1;
      log_determinant += std::log(std::abs(a(k, k)));
    }
    *x.as<double>(2) = sign, *x.as<double>(3) = log_determinant;
  }
};

struct SolveLoop {
  explicit SolveLoop(const Solve&) {}
  /// The scratch memory has room for the factors and the pivots.
  int64_t work_size(const Shape& a) const { return a[-1] * (a[-1] + 1); }
  void compute_one(const MatrixParts& x, double* work) const {
    const int64_t n = x.in[0].rows;
    const Matrix factors{work, n, n};
    copy(x.in[0], factors);
    copy(x.in[1], x.out[0]);
    solve(factors, x.out[0], reinterpret_cast<int32_t*>(work + n * n));
  }

 private:
  static void solve(const Matrix& a, const Matrix& b, int32_t* pivots) {
    decompose_lu(a, pivots);
    for (int64_t k = 0; k < a.rows; ++k)
      for (int64_t c = 0; c < b.columns && pivots[k] != k; ++c) std::swap(b(k, c), b(pivots[k], c));
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j < i; ++j)
        for (int64_t c = 0; c < b.columns; ++c) b(i, c) -= a(i, j) * b(j, c);
    for (int64_t i = a.rows - 1; i >= 0; --i)
      for (int64_t c = 0; c < b.columns; ++c) {
        for (int64_t j = i + 1; j < a.rows; ++j) b(i, c) -= a(i, j) * b(j, c);
        b(i, c) /= a(i, i);
      }
  }
};

struct CholeskyLoop {
  explicit CholeskyLoop(const Cholesky&) {}
  int64_t work_size(const Shape&) const { return 0; }
  void compute_one(const MatrixParts& x, double*) const {
    copy(x.in[0], x.out[0]);
    decompose(x.out[0]);
  }

 private:
  static void decompose(const Matrix& a) {
    for (int64_t j = 0; j < a.rows; ++j)
      for (int64_t i = 0; i < a.rows; ++i) {
        if (i < j) {
          a(i, j) = 0;
          continue;
        }
        double value = a(i, j);
        for (int64_t k = 0; k < j; ++k) value -= a(i, k) * a(j, k);
        a(i, j) = i == j ? std::sqrt(value) : value / a(j, j);
      }
  }
};

}  // namespace

CRESCENT_REGISTER(linear_system_kernels) {
  registry.add<MatricesKernel<TriangularSolve, TriangularLoop>>(TriangularSolve::kName);
  registry.add<MatricesKernel<Lu, LuLoop>>(Lu::kName);
  registry.add<MatricesKernel<Solve, SolveLoop>>(Solve::kName);
  registry.add<MatricesKernel<Cholesky, CholeskyLoop>>(Cholesky::kName);
}

}  // namespace crescent::operations
