#include "jacobi.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "../../kernels/clones.h"

namespace crescent::operations {
namespace {

typedef double Lanes __attribute__((vector_size(kSvdLanes * sizeof(double))));
typedef int64_t Choice __attribute__((vector_size(kSvdLanes * sizeof(int64_t))));

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

CRESCENT_IN_CLONES void take_square_roots(Lanes& x) {
  double numbers[kSvdLanes];
  std::memcpy(numbers, &x, sizeof x);
  for (double& number : numbers) number = __builtin_sqrt(number);
  std::memcpy(&x, numbers, sizeof x);
}

/// The square of a relative length that a column of m elements may keep because of rounding errors
/// although it depends linearly on other columns.
double negligible_square(int64_t m) {
  const double relative_length = kEpsilon * static_cast<double>(m);
  return relative_length * relative_length;
}

CRESCENT_IN_CLONES void rotate(Lanes* x, Lanes* y, int64_t count, const Lanes& c, const Lanes& s) {
  for (int64_t i = 0; i < count; ++i) {
    const Lanes old_x = x[i];
    x[i] = c * old_x - s * y[i];
    y[i] = s * old_x + c * y[i];
  }
}

/// One sweep of Jacobi rotations over all pairs of the n columns of x (`columns`, m elements each).
/// They are also applied to the columns of v (`basis`, n elements each). `norms` receives the
/// squared norms of the columns of x; *has_rotated becomes false if no matrix needed a rotation.
CRESCENT_IN_CLONES void rotate_pairs(double* columns, double* basis, double* norms, int64_t m,
                                     int64_t n, double tolerance, bool* has_rotated) {
  Lanes *x = reinterpret_cast<Lanes*>(columns), *v = reinterpret_cast<Lanes*>(basis),
        *squares = reinterpret_cast<Lanes*>(norms);
  Lanes largest = {};
  for (int64_t j = 0; j < n; ++j) {
    Lanes sum = {};
    for (int64_t i = 0; i < m; ++i) sum += x[j * m + i] * x[j * m + i];
    squares[j] = sum;
    largest = sum > largest ? sum : largest;
  }
  const Lanes threshold = largest * tolerance;
  *has_rotated = false;
  for (int64_t p = 0; p < n; ++p)
    for (int64_t q = p + 1; q < n; ++q) {
      Lanes *xp = x + p * m, *xq = x + q * m;
      Lanes dot_product = {};
      for (int64_t i = 0; i < m; ++i) dot_product += xp[i] * xq[i];
      const Lanes pp = squares[p], qq = squares[q];
      const Choice needs_rotation =
          (dot_product * dot_product > pp * qq * tolerance) & (pp > threshold) & (qq > threshold);
      int64_t any_rotation = 0;
      for (int64_t lane = 0; lane < kSvdLanes; ++lane) any_rotation |= needs_rotation[lane];
      if (any_rotation == 0) continue;
      *has_rotated = true;
      const Lanes one = Lanes() + 1.0,
                  angle = (qq - pp) / (2.0 * (needs_rotation ? dot_product : one));
      Lanes root = angle * angle + 1.0;
      take_square_roots(root);
      const Lanes tangent = 1.0 / (angle < 0.0 ? angle - root : angle + root);
      const Lanes t = needs_rotation ? tangent : Lanes();
      Lanes length = t * t + 1.0;
      take_square_roots(length);
      const Lanes c = 1.0 / length, s = t * c;
      squares[p] = pp - t * dot_product, squares[q] = qq + t * dot_product;
      rotate(xp, xq, m, c, s);
      rotate(v + p * n, v + q * n, n, c, s);
    }
}

CRESCENT_CLONES(rotate_columns, rotate_pairs,
                (double* columns, double* basis, double* norms, int64_t m, int64_t n,
                 double tolerance, bool* has_rotated),
                (columns, basis, norms, m, n, tolerance, has_rotated))

/// A view of a matrix, or of its transpose.
struct MatrixView {
  double* values;
  int64_t row_step, column_step;
  double& operator()(int64_t i, int64_t j) const { return values[i * row_step + j * column_step]; }
};

/// Replaces a column of u whose singular value is 0 by a unit vector that is orthogonal to the
/// columns before it.
void complete(const MatrixView& u, int64_t m, int64_t column) {
  const auto residual_square = [&](int64_t i) {
    double remaining_square = 1;
    for (int64_t j = 0; j < column; ++j) remaining_square -= u(i, j) * u(i, j);
    return remaining_square;
  };
  int64_t best_row = 0;
  for (int64_t i = 1; i < m; ++i)
    if (residual_square(i) > residual_square(best_row)) best_row = i;
  for (int64_t i = 0; i < m; ++i) u(i, column) = i == best_row ? 1 : 0;
  for (int round = 0; round < 2; ++round) {
    double square = 0;
    for (int64_t j = 0; j < column; ++j) {
      double dot = 0;
      for (int64_t i = 0; i < m; ++i) dot += u(i, j) * u(i, column);
      for (int64_t i = 0; i < m; ++i) u(i, column) -= dot * u(i, j);
    }
    for (int64_t i = 0; i < m; ++i) square += u(i, column) * u(i, column);
    for (int64_t i = 0; i < m; ++i) u(i, column) /= std::sqrt(square);
  }
}

/// The working copy of up to kSvdLanes matrices with m >= n rows. Matrices are stored by columns,
/// and each element consists of one number per matrix.
class MatrixGroup {
 public:
  MatrixGroup(int64_t m, int64_t n, double* work)
      : m_(m),
        n_(n),
        columns_(work),
        basis_(columns_ + m * n * kSvdLanes),
        norms_(basis_ + n * n * kSvdLanes),
        column_order_(reinterpret_cast<int64_t*>(norms_ + n * kSvdLanes)) {
    std::fill_n(columns_, (m + n) * n * kSvdLanes, 0.0);
  }
  /// Number of doubles in the workspace of a group.
  static int64_t workspace_size(int64_t m, int64_t n) { return ((m + n + 1) * kSvdLanes + 1) * n; }

  void add_matrix(const MatrixView& a, int64_t lane) {
    double largest = 0;
    bool is_finite = true;
    for (int64_t i = 0; i < m_; ++i)
      for (int64_t j = 0; j < n_; ++j) {
        largest = std::max(largest, std::abs(a(i, j)));
        is_finite = is_finite && std::isfinite(a(i, j));
      }
    constexpr int kMaxExponent = 1000;
    int exponent = 0;
    std::frexp(largest, &exponent);
    scales_[lane] =
        is_finite ? std::ldexp(1.0, std::clamp(exponent, -kMaxExponent, kMaxExponent)) : NAN;
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < m_; ++i) at(columns_, j * m_ + i, lane) = a(i, j) / scales_[lane];
      at(basis_, j * n_ + j, lane) = 1;
    }
  }
  void decompose() {
    constexpr int kMaxSweeps = 40;
    bool has_rotated = true;
    for (int sweep = 0; sweep < kMaxSweeps && has_rotated; ++sweep)
      rotate_columns(columns_, basis_, norms_, m_, n_, negligible_square(m_), &has_rotated);
  }
  /// Writes the result of one matrix: u (m, n), s (n), v (n, n).
  void write_result(int64_t lane, const MatrixView& u, double* s, const MatrixView& v) const {
    std::iota(column_order_, column_order_ + n_, 0);
    const auto square = [&](int64_t j) { return at(norms_, j, lane); };
    if (!std::isnan(scales_[lane]))
      std::sort(column_order_, column_order_ + n_, [&](int64_t i, int64_t j) {
        return square(i) > square(j) || (square(i) == square(j) && i < j);
      });
    const double threshold = square(column_order_[0]) * negligible_square(m_);
    for (int64_t k = 0; k < n_; ++k) {
      const int64_t j = column_order_[k];
      const double length = std::sqrt(square(j));
      s[k] = length * scales_[lane];
      for (int64_t i = 0; i < n_; ++i) v(i, k) = at(basis_, j * n_ + i, lane);
      for (int64_t i = 0; i < m_; ++i) u(i, k) = at(columns_, j * m_ + i, lane) / length;
      if (square(j) <= threshold) complete(u, m_, k);
    }
    if (std::isnan(scales_[lane])) fill_with_nan(u, s, v);
  }

 private:
  static double& at(double* elements, int64_t i, int64_t lane) {
    return elements[i * kSvdLanes + lane];
  }
  void fill_with_nan(const MatrixView& u, double* s, const MatrixView& v) const {
    for (int64_t k = 0; k < n_; ++k) {
      s[k] = NAN;
      for (int64_t i = 0; i < m_; ++i) u(i, k) = NAN;
      for (int64_t i = 0; i < n_; ++i) v(i, k) = NAN;
    }
  }
  int64_t m_, n_;
  double *columns_, *basis_, *norms_;
  int64_t* column_order_;  ///< indices of the columns in the order of descending singular values
  double scales_[kSvdLanes] = {};
};

}  // namespace

int64_t svd_work(int64_t m, int64_t n) {
  return MatrixGroup::workspace_size(std::max(m, n), std::min(m, n));
}

void svd_of_group(const double* matrices, int64_t count, int64_t m, int64_t n, double* u, double* s,
                  double* vt, double* work) {
  const int64_t k = std::min(m, n);
  const bool is_wide = m < n;
  if (k == 0) return;
  MatrixGroup group(std::max(m, n), k, work);
  for (int64_t i = 0; i < count; ++i) {
    double* a = const_cast<double*>(matrices) + i * m * n;
    group.add_matrix(is_wide ? MatrixView{a, 1, n} : MatrixView{a, n, 1}, i);
  }
  group.decompose();
  for (int64_t i = 0; i < count; ++i) {
    const MatrixView left{u + i * m * k, k, 1}, right{vt + i * k * n, 1, n};
    group.write_result(i, is_wide ? right : left, s + i * k, is_wide ? left : right);
  }
}

}  // namespace crescent::operations
