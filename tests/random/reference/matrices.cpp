// Reference implementations of linear algebra: elimination, rotations and projections as in
// textbooks.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "random/reference/reference.h"

namespace crescent::random_programs {
namespace {

/// The type of all intermediate values, which has more digits than the results that are compared.
using Real = long double;

struct Matrix {
  size_t rows, columns;
  std::vector<Real> values = std::vector<Real>(rows * columns);

  Real& operator()(size_t i, size_t j) { return values[i * columns + j]; }
  Real operator()(size_t i, size_t j) const { return values[i * columns + j]; }
  void swap_rows(size_t a, size_t b) {
    for (size_t j = 0; j < columns; ++j) std::swap((*this)(a, j), (*this)(b, j));
  }
};

Matrix identity(size_t n) {
  Matrix result{n, n};
  for (size_t i = 0; i < n; ++i) result(i, i) = 1;
  return result;
}

Matrix transposed(const Matrix& a) {
  Matrix b{a.columns, a.rows};
  for (size_t i = 0; i < b.rows; ++i)
    for (size_t j = 0; j < b.columns; ++j) b(i, j) = a(j, i);
  return b;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.columns};
  for (size_t i = 0; i < c.rows; ++i)
    for (size_t k = 0; k < b.rows; ++k)
      for (size_t j = 0; j < c.columns; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

/// The maximum norm of a matrix: the largest sum of magnitudes in a row.
double norm(const Matrix& a) {
  Real largest_sum = 0;
  for (size_t i = 0; i < a.rows; ++i) {
    Real sum = 0;
    for (size_t j = 0; j < a.columns; ++j) sum += std::abs(a(i, j));
    largest_sum = std::max(largest_sum, sum);
  }
  return static_cast<double>(largest_sum);
}

double largest_of(const Matrix& a) {
  Real largest = 0;
  for (Real x : a.values) largest = std::max(largest, std::abs(x));
  return static_cast<double>(largest);
}

/// Matrix number `matrix_index` of a batch; a vector is a matrix with a single row.
Matrix matrix_of(const Array& x, size_t matrix_index, size_t rows, size_t columns) {
  Matrix a{rows, columns};
  std::copy_n(x.values.begin() + static_cast<ptrdiff_t>(matrix_index * rows * columns),
              rows * columns, a.values.begin());
  for (Real v : a.values)
    if (!std::isfinite(v)) throw Unreliable("a matrix that is not finite");
  return a;
}

Matrix matrix_of(const Array& x, size_t matrix_index) {
  return matrix_of(x, matrix_index, static_cast<size_t>(x.spec.shape[-2]),
                   static_cast<size_t>(x.spec.shape[-1]));
}

size_t matrix_count(const Array& x) {
  return static_cast<size_t>(x.spec.shape.slice(0, x.spec.shape.rank() - 2).size());
}

/// Stores result number `result_index` of matrix `matrix_index`, with an error of `extra_roundings`
/// times the unit roundoff.
void store_result(const Call& call, size_t result_index, size_t matrix_index,
                  const std::vector<Real>& values, double extra_roundings) {
  Array& out = call.out[result_index];
  const DType dtype = out.spec.dtype == DType::complex64 ? DType::float32 : out.spec.dtype;
  for (size_t i = 0; i < values.size(); ++i)
    out.values[matrix_index * values.size() + i] =
        call.rounding(static_cast<double>(values[i]), dtype, 1, extra_roundings);
}

/// The expected error after n steps, as a multiple of the unit roundoff.
double expected_roundings(size_t n) { return 2 * std::sqrt(static_cast<double>(n)); }

// ---- linear systems

/// Solves a x = b for a triangular a, in place.
void substitute(const Matrix& a, bool is_lower, bool has_unit_diagonal, Matrix& b) {
  for (size_t k = 0; k < a.rows; ++k) {
    const size_t i = is_lower ? k : a.rows - 1 - k;
    for (size_t c = 0; c < b.columns; ++c) {
      Real remainder = b(i, c);
      for (size_t j = is_lower ? 0 : i + 1; j < (is_lower ? i : a.rows); ++j)
        remainder -= a(i, j) * b(j, c);
      b(i, c) = has_unit_diagonal ? remainder : remainder / a(i, i);
    }
  }
}

/// An LU decomposition: both factors in one matrix, and the row that each row was exchanged with.
struct LuFactors {
  Matrix lu;
  std::vector<size_t> pivots = {};

  explicit LuFactors(const Matrix& a) : lu(a) {
    for (size_t k = 0; k < std::min(a.rows, a.columns); ++k) {
      size_t pivot_row = k;
      for (size_t i = k + 1; i < a.rows; ++i)
        if (std::abs(lu(i, k)) > std::abs(lu(pivot_row, k))) pivot_row = i;
      pivots.push_back(pivot_row);
      lu.swap_rows(k, pivot_row);
      if (lu(k, k) == 0) throw Unreliable("a singular matrix");
      for (size_t i = k + 1; i < a.rows; ++i) {
        const Real factor = lu(i, k) /= lu(k, k);
        for (size_t j = k + 1; j < a.columns; ++j) lu(i, j) -= factor * lu(k, j);
      }
    }
  }
  Matrix solve(Matrix b) const {
    for (size_t k = 0; k < pivots.size(); ++k) b.swap_rows(k, pivots[k]);
    substitute(lu, true, true, b);
    substitute(lu, false, false, b);
    return b;
  }
  Real sign() const {
    Real sign = 1;
    for (size_t k = 0; k < pivots.size(); ++k) {
      if (pivots[k] != k) sign = -sign;
      if (lu(k, k) < 0) sign = -sign;
    }
    return sign;
  }
  Real logarithm() const {
    Real sum = 0;
    for (size_t k = 0; k < pivots.size(); ++k) sum += std::log(std::abs(lu(k, k)));
    return sum;
  }
};

/// The condition number: the largest factor by which solving a linear system amplifies a relative
/// error of the matrix.
double condition_number(const Matrix& a, const LuFactors& factors) {
  return norm(a) * norm(factors.solve(identity(a.rows)));
}

void interpret_solve(const Call& call) {
  for (size_t i = 0; i < matrix_count(*call.in[0]); ++i) {
    const Matrix a = matrix_of(*call.in[0], i);
    const LuFactors factors(a);
    const Matrix x = factors.solve(matrix_of(*call.in[1], i));
    store_result(call, 0, i, x.values,
                 expected_roundings(a.rows) * condition_number(a, factors) * largest_of(x));
  }
}

void interpret_solve_triangular(const Call& call) {
  const bool is_lower = call.op.text() == "tri_solve(true)";
  for (size_t i = 0; i < matrix_count(*call.in[0]); ++i) {
    Matrix a = matrix_of(*call.in[0], i), x = matrix_of(*call.in[1], i), inverse = identity(a.rows);
    for (size_t r = 0; r < a.rows; ++r)
      for (size_t c = 0; c < a.columns; ++c)
        if (is_lower ? c > r : c < r) a(r, c) = 0;
    substitute(a, is_lower, false, x);
    substitute(a, is_lower, false, inverse);
    store_result(call, 0, i, x.values,
                 expected_roundings(a.rows) * norm(a) * norm(inverse) * largest_of(x));
  }
}

void interpret_lu_factor(const Call& call) {
  for (size_t i = 0; i < matrix_count(*call.in[0]); ++i) {
    const Matrix a = matrix_of(*call.in[0], i);
    const LuFactors factors(a);
    // For a matrix that is not square, 8 is used instead of the condition number, which it does not
    // have.
    const double roundings =
        expected_roundings(a.rows) * (a.rows == a.columns ? condition_number(a, factors) : 8);
    store_result(call, 0, i, factors.lu.values, roundings * std::max(1.0, largest_of(factors.lu)));
    std::vector<Real> pivots(factors.pivots.begin(), factors.pivots.end());
    store_result(call, 1, i, pivots, 0);
    call.out[2].values[i] = static_cast<double>(factors.sign());
    store_result(call, 3, i, {factors.logarithm()}, roundings * static_cast<double>(a.rows));
  }
}

void interpret_cholesky(const Call& call) {
  for (size_t at = 0; at < matrix_count(*call.in[0]); ++at) {
    const Matrix a = matrix_of(*call.in[0], at);
    Matrix l{a.rows, a.rows};
    for (size_t j = 0; j < a.rows; ++j)
      for (size_t i = j; i < a.rows; ++i) {
        Real remainder = a(i, j);
        for (size_t k = 0; k < j; ++k) remainder -= l(i, k) * l(j, k);
        if (i == j && !(remainder > 0)) throw Unreliable("a matrix that is not positive definite");
        l(i, j) = i == j ? std::sqrt(remainder) : remainder / l(j, j);
      }
    Matrix inverse = identity(a.rows);
    substitute(l, true, false, inverse);
    const double condition_of_l = norm(l) * norm(inverse);
    store_result(call, 0, at, l.values,
                 expected_roundings(a.rows) * condition_of_l * condition_of_l * largest_of(l));
  }
}

// ---- eigenvalues and singular values

/// Eigenvalues of a symmetric matrix, in ascending order, and eigenvectors in columns.
struct EigenDecomposition {
  std::vector<Real> values = {};
  Matrix vectors;

  explicit EigenDecomposition(Matrix a) : vectors(identity(a.rows)) {
    constexpr int kMaxSweeps = 60;
    for (int sweep = 0; sweep < kMaxSweeps && !is_diagonal(a); ++sweep)
      for (size_t p = 0; p < a.rows; ++p)
        for (size_t q = p + 1; q < a.rows; ++q) rotate_to_zero(a, p, q);
    std::vector<size_t> order(a.rows);
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return a(i, i) < a(j, j); });
    const Matrix unsorted_vectors = vectors;
    for (size_t j = 0; j < a.rows; ++j) {
      values.push_back(a(order[j], order[j]));
      for (size_t i = 0; i < a.rows; ++i) vectors(i, j) = unsorted_vectors(i, order[j]);
    }
  }
  /// The distance from eigenvalue j to the nearest other one.
  double gap(size_t j) const {
    Real smallest_distance = std::max(std::abs(values.front()), std::abs(values.back()));
    for (size_t i = 0; i < values.size(); ++i)
      if (i != j) smallest_distance = std::min(smallest_distance, std::abs(values[i] - values[j]));
    return static_cast<double>(smallest_distance);
  }

 private:
  static bool is_diagonal(const Matrix& a) {
    Real off_diagonal = 0, on_diagonal = 0;
    for (size_t i = 0; i < a.rows; ++i)
      for (size_t j = 0; j < a.rows; ++j)
        (i == j ? on_diagonal : off_diagonal) += a(i, j) * a(i, j);
    return off_diagonal <= 1e-38L * on_diagonal;
  }
  /// Applies a Jacobi rotation to axes p and q, so that the element (p, q) becomes 0.
  void rotate_to_zero(Matrix& a, size_t p, size_t q) {
    if (a(p, q) == 0) return;
    const Real angle = std::atan2(2 * a(p, q), a(q, q) - a(p, p)) / 2, c = std::cos(angle),
               s = std::sin(angle);
    const auto rotate = [&](Real& x, Real& y) {
      const Real old_x = x;
      x = c * old_x - s * y, y = s * old_x + c * y;
    };
    for (size_t k = 0; k < a.rows; ++k)
      rotate(a(k, p), a(k, q)), rotate(vectors(k, p), vectors(k, q));
    for (size_t k = 0; k < a.rows; ++k) rotate(a(p, k), a(q, k));
  }
};

void interpret_eigh(const Call& call) {
  for (size_t i = 0; i < matrix_count(*call.in[0]); ++i) {
    const Matrix a = matrix_of(*call.in[0], i);
    const EigenDecomposition eigen(a);
    double smallest_gap = INFINITY;
    for (size_t j = 0; j < a.rows; ++j) smallest_gap = std::min(smallest_gap, eigen.gap(j));
    store_result(call, 0, i, eigen.values, expected_roundings(a.rows) * norm(a));
    store_result(call, 1, i, eigen.vectors.values,
                 expected_roundings(a.rows) * norm(a) / smallest_gap);
  }
}

/// Computes the unit eigenvector whose eigenvalue is nearest to a diagonal element, by inverse
/// iteration, and returns that eigenvalue.
Real nearest_eigenvalue(const Matrix& a, size_t diagonal_index, Matrix& vector) {
  constexpr int kMaxSteps = 60;
  constexpr Real kConverged = 1e-18L;
  const Real shift = a(diagonal_index, diagonal_index) + 1e-3L;
  Matrix shifted_matrix = a;
  for (size_t i = 0; i < a.rows; ++i) shifted_matrix(i, i) -= shift;
  const LuFactors factors(shifted_matrix);
  vector(diagonal_index, 0) = 1;
  Real value = shift, last_value = 0;
  for (int step = 0; step < kMaxSteps && std::abs(value - last_value) > kConverged; ++step) {
    const Matrix next_vector = factors.solve(vector);
    Real dot = 0, square = 0;
    for (size_t i = 0; i < a.rows; ++i)
      dot += next_vector(i, 0) * vector(i, 0), square += next_vector(i, 0) * next_vector(i, 0);
    last_value = value, value = shift + dot / square;
    for (size_t i = 0; i < a.rows; ++i) vector(i, 0) = next_vector(i, 0) / std::sqrt(square);
  }
  return value;
}

/// Eigenvalues and eigenvectors of real, nearly diagonal matrices, as pairs of real and imaginary
/// parts. The largest element of an eigenvector is positive.
void interpret_eig(const Call& call) {
  const Shape& pairs = call.in[0]->spec.shape;
  const auto n = static_cast<size_t>(pairs[-2]);
  for (size_t at = 0; at < call.in[0]->values.size() / (2 * n * n); ++at) {
    const Matrix re_and_im = matrix_of(*call.in[0], at, n * n, 2);
    Matrix a{n, n};
    std::vector<Real> values(2 * n), vectors(2 * n * n);
    for (size_t i = 0; i < n * n; ++i) {
      if (re_and_im(i, 1) != 0) throw Unreliable("a complex matrix");
      a.values[i] = re_and_im(i, 0);
    }
    for (size_t j = 0; j < n; ++j) {
      Matrix vector{n, 1};
      values[2 * j] = nearest_eigenvalue(a, j, vector);
      const Real sign = vector(j, 0) < 0 ? -1 : 1;
      for (size_t i = 0; i < n; ++i) vectors[2 * (i * n + j)] = sign * vector(i, 0);
    }
    store_result(call, 0, at, values, 1);
    store_result(call, 1, at, vectors, 1);
  }
}

/// Singular values from the eigenvalues of a a' or a' a, whichever is smaller. Squaring loses half
/// of the digits, but long double has enough. Columns of u that belong to a singular value of 0 are
/// 0.
void interpret_svd(const Call& call) {
  constexpr Real kZeroThreshold = 1e-9L;
  for (size_t at = 0; at < matrix_count(*call.in[0]); ++at) {
    const Matrix original_matrix = matrix_of(*call.in[0], at);
    const bool is_wide = original_matrix.rows < original_matrix.columns;
    const Matrix a = is_wide ? transposed(original_matrix) : original_matrix;
    const EigenDecomposition eigen(product(transposed(a), a));
    const size_t k = a.columns;
    Matrix v{k, k};
    std::vector<Real> s(k);
    double smallest_gap = INFINITY;
    for (size_t j = 0; j < k; ++j) {
      const size_t source_column = k - 1 - j;
      s[j] = std::sqrt(std::max(eigen.values[source_column], Real{0}));
      if (s[j] <= kZeroThreshold * s[0]) s[j] = 0;
      for (size_t i = 0; i < k; ++i) v(i, j) = eigen.vectors(i, source_column);
      smallest_gap = std::min(smallest_gap, eigen.gap(j));
    }
    Matrix u = product(a, v);
    for (size_t i = 0; i < u.rows; ++i)
      for (size_t j = 0; j < k; ++j) u(i, j) = s[j] == 0 ? 0 : u(i, j) / s[j];
    const double square = norm(a) * norm(transposed(a)),
                 result_error = expected_roundings(a.rows) * square / smallest_gap;
    store_result(call, 0, at, (is_wide ? v : u).values, result_error);
    store_result(call, 1, at, s, expected_roundings(a.rows) * std::sqrt(square));
    store_result(call, 2, at, transposed(is_wide ? u : v).values, result_error);
  }
}

/// Subtracts from a column its projection on the first `count` columns of q; returns its remaining
/// length.
Real subtract_projection(const Matrix& q, size_t count, std::vector<Real>& column) {
  for (int pass = 0; pass < 2; ++pass)
    for (size_t j = 0; j < count; ++j) {
      Real dot = 0;
      for (size_t i = 0; i < q.rows; ++i) dot += q(i, j) * column[i];
      for (size_t i = 0; i < q.rows; ++i) column[i] -= dot * q(i, j);
    }
  Real square = 0;
  for (Real x : column) square += x * x;
  return std::sqrt(square);
}

/// Orthonormal columns: first those made from a, then arbitrary ones, `count` in all.
Matrix orthonormal_columns(const Matrix& a, size_t count) {
  Matrix q{a.rows, count};
  size_t unit_axis = 0;
  for (size_t j = 0; j < count;) {
    std::vector<Real> column(a.rows);
    const bool is_column_of_a = j < a.columns;
    if (!is_column_of_a) column[unit_axis++] = 1;
    for (size_t i = 0; i < a.rows && is_column_of_a; ++i) column[i] = a(i, j);
    const Real length = subtract_projection(q, j, column);
    if (is_column_of_a && length == 0) throw Unreliable("columns that depend on each other");
    if (!is_column_of_a && length < 0.1L / static_cast<Real>(a.rows)) continue;
    for (size_t i = 0; i < a.rows; ++i) q(i, j) = column[i] / length;
    ++j;
  }
  return q;
}

/// QR decomposition, with a positive diagonal of r.
void interpret_qr(const Call& call) {
  for (size_t i = 0; i < matrix_count(*call.in[0]); ++i) {
    const Matrix a = matrix_of(*call.in[0], i);
    const size_t k = std::min(a.rows, a.columns);
    const Matrix q = orthonormal_columns(a, static_cast<size_t>(call.out[0].spec.shape[-1]));
    Matrix r = product(transposed(q), a), inverse = identity(k), square{k, k};
    for (size_t row = 0; row < r.rows; ++row)
      for (size_t column = 0; column < std::min(row, r.columns); ++column) r(row, column) = 0;
    for (size_t row = 0; row < k; ++row)
      for (size_t column = 0; column < k; ++column) square(row, column) = r(row, column);
    substitute(square, false, false, inverse);
    const double roundings = expected_roundings(a.rows) * norm(square) * norm(inverse);
    store_result(call, 0, i, q.values, roundings);
    store_result(call, 1, i, r.values, roundings * largest_of(r));
  }
}

}  // namespace

bool interpret_matrices(const Call& call) {
  using Interpret = void (*)(const Call&);
  constexpr std::pair<std::string_view, Interpret> kOps[] = {
      {"solve", interpret_solve},
      {"tri_solve", interpret_solve_triangular},
      {"lu_factor", interpret_lu_factor},
      {"eigh", interpret_eigh},
      {"cholesky", interpret_cholesky},
      {"svd_batch", interpret_svd},
      {"svd", interpret_svd},
      {"qr_batch", interpret_qr},
      {"qr", interpret_qr},
      {"eig", interpret_eig}};
  for (const auto& [name, interpret] : kOps) {
    if (name != call.op.name()) continue;
    interpret(call);
    return true;
  }
  return false;
}

}  // namespace crescent::random_programs
