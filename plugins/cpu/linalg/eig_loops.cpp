// Eigenvalues and eigenvectors of any square matrices, by the QR algorithm in complex numbers.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "linalg/eig.h"

namespace crescent::cpu {
namespace {

using ComplexNumber = std::complex<double>;

class ComplexMatrix {
 public:
  explicit ComplexMatrix(int64_t n) : n_(n), values_(static_cast<size_t>(n * n)) {}
  static ComplexMatrix identity(int64_t n) {
    ComplexMatrix result(n);
    for (int64_t i = 0; i < n; ++i) result(i, i) = 1;
    return result;
  }
  int64_t size() const { return n_; }
  ComplexNumber& operator()(int64_t i, int64_t j) {
    return values_[static_cast<size_t>(i * n_ + j)];
  }

 private:
  int64_t n_;
  std::vector<ComplexNumber> values_;
};

/// A complex Givens rotation. It is applied to rows p and q of `a`, which makes a(q, column) zero;
/// its inverse is applied to the columns p and q of `a` and `basis`.
struct Rotation {
  ComplexNumber c, s;
  static Rotation that_clears(const ComplexNumber& x, const ComplexNumber& y) {
    const double length = std::hypot(std::abs(x), std::abs(y));
    return length == 0 ? Rotation{1, 0} : Rotation{std::conj(x) / length, std::conj(y) / length};
  }
  void rotate_rows(ComplexMatrix& a, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < a.size(); ++j) {
      const ComplexNumber x = a(p, j), y = a(q, j);
      a(p, j) = c * x + s * y;
      a(q, j) = -std::conj(s) * x + std::conj(c) * y;
    }
  }
  void rotate_columns(ComplexMatrix& a, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < a.size(); ++i) {
      const ComplexNumber x = a(i, p), y = a(i, q);
      a(i, p) = std::conj(c) * x + std::conj(s) * y;
      a(i, q) = -s * x + c * y;
    }
  }
};

/// Reduces `a` to Hessenberg form: zeros below the first subdiagonal.
void make_hessenberg(ComplexMatrix& a, ComplexMatrix& basis) {
  for (int64_t column = 0; column + 2 < a.size(); ++column)
    for (int64_t row = column + 2; row < a.size(); ++row) {
      if (a(row, column) == ComplexNumber(0)) continue;
      const Rotation rotation = Rotation::that_clears(a(column + 1, column), a(row, column));
      rotation.rotate_rows(a, column + 1, row);
      rotation.rotate_columns(a, column + 1, row);
      rotation.rotate_columns(basis, column + 1, row);
    }
}

/// The Wilkinson shift: the eigenvalue of the last 2 x 2 block before `end` that is nearest to the
/// block's last element.
ComplexNumber shift_of(ComplexMatrix& a, int64_t end) {
  const ComplexNumber p = a(end - 2, end - 2), q = a(end - 1, end - 1);
  const ComplexNumber half = (p - q) * 0.5, product = a(end - 2, end - 1) * a(end - 1, end - 2);
  const ComplexNumber root = std::sqrt(half * half + product);
  const ComplexNumber sum =
      std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
  return sum == ComplexNumber(0) ? q : q - product / sum;
}

bool is_negligible(ComplexMatrix& a, int64_t i) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  return std::abs(a(i, i - 1)) <= kEpsilon * (std::abs(a(i, i)) + std::abs(a(i - 1, i - 1)));
}

/// One shifted QR step on rows and columns [begin, end).
void run_qr_step(ComplexMatrix& a, ComplexMatrix& basis, int64_t begin, int64_t end,
                 const ComplexNumber& shift) {
  std::vector<Rotation> rotations;
  for (int64_t i = begin; i < end; ++i) a(i, i) -= shift;
  for (int64_t i = begin; i + 1 < end; ++i) {
    rotations.push_back(Rotation::that_clears(a(i, i), a(i + 1, i)));
    rotations.back().rotate_rows(a, i, i + 1);
  }
  for (int64_t i = begin; i + 1 < end; ++i) {
    rotations[static_cast<size_t>(i - begin)].rotate_columns(a, i, i + 1);
    rotations[static_cast<size_t>(i - begin)].rotate_columns(basis, i, i + 1);
  }
  for (int64_t i = begin; i < end; ++i) a(i, i) += shift;
}

/// Reduces `a` to Schur form: upper triangular, with the eigenvalues on the diagonal.
void make_triangular(ComplexMatrix& a, ComplexMatrix& basis) {
  make_hessenberg(a, basis);
  const int64_t max_steps = 60 * a.size();
  int64_t end = a.size(), steps_for_this_value = 0;
  for (int64_t step = 0; end > 1; ++step) {
    if (step == max_steps) fail("eig: the eigenvalues of a matrix were not found");
    if (is_negligible(a, end - 1)) {
      --end;
      a(end, end - 1) = 0;
      steps_for_this_value = 0;
      continue;
    }
    int64_t begin = end - 1;
    while (begin > 0 && !is_negligible(a, begin)) --begin;
    const bool is_stuck = ++steps_for_this_value % 11 == 10;
    const ComplexNumber shift =
        is_stuck ? a(end - 1, end - 1) + std::abs(a(end - 1, end - 2)) : shift_of(a, end);
    run_qr_step(a, basis, begin, end, shift);
  }
}

/// Computes eigenvector k as column k of `vectors`, in the basis in which `a` is triangular.
void find_eigenvector(ComplexMatrix& a, int64_t k, ComplexMatrix& vectors) {
  constexpr double kTiny = 1e-300;
  double norm = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    for (int64_t j = i; j < a.size(); ++j) norm = std::max(norm, std::abs(a(i, j)));
  const double min_difference = std::max(kTiny, norm * std::numeric_limits<double>::epsilon());
  vectors(k, k) = 1;
  for (int64_t i = k; i-- > 0;) {
    ComplexNumber sum = 0;
    for (int64_t j = i + 1; j <= k; ++j) sum += a(i, j) * vectors(j, k);
    const ComplexNumber difference = a(k, k) - a(i, i);
    vectors(i, k) =
        sum / (std::abs(difference) < min_difference ? ComplexNumber(min_difference) : difference);
  }
}

/// Scales the vector to length 1 and rotates its phase so that its largest element is real.
void normalize(std::vector<ComplexNumber>& vector) {
  double sum_of_squares = 0;
  for (const ComplexNumber& x : vector) sum_of_squares += std::norm(x);
  const ComplexNumber& largest = *std::max_element(
      vector.begin(), vector.end(),
      [](const ComplexNumber& a, const ComplexNumber& b) { return std::norm(a) < std::norm(b); });
  const ComplexNumber scale = std::conj(largest) / (std::abs(largest) * std::sqrt(sum_of_squares));
  for (ComplexNumber& x : vector) x *= scale;
}

/// Computes the eigenvalues (n) of a (n, n) and its eigenvectors, as columns.
void find_eigenpairs(ComplexMatrix& a, std::complex<float>* values, std::complex<float>* columns) {
  const int64_t n = a.size();
  ComplexMatrix basis = ComplexMatrix::identity(n), vectors(n);
  make_triangular(a, basis);
  for (int64_t k = 0; k < n; ++k) {
    values[k] = std::complex<float>(a(k, k));
    find_eigenvector(a, k, vectors);
    std::vector<ComplexNumber> column(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= k; ++j)
        column[static_cast<size_t>(i)] += basis(i, j) * vectors(j, k);
    normalize(column);
    for (int64_t i = 0; i < n; ++i)
      columns[i * n + k] = std::complex<float>(column[static_cast<size_t>(i)]);
  }
}

/// The kernel of Eig: (a as pairs of float64) -> eigenvalues, eigenvectors. It fails for a matrix
/// that is not finite.
class EigKernel final : public Kernel {
 public:
  explicit EigKernel(const Request& r)
      : n_(r.inputs[0].shape[-2]),
        matrix_count_(r.inputs[0].shape.slice(0, r.inputs[0].shape.rank() - 3).size()) {}
  std::string name() const override { return "complex qr algorithm"; }
  bool may_fail() const override { return true; }
  void run(const Arguments& a) const override {
    for (int64_t i = 0; i < matrix_count_; ++i) run_one(a, i);
  }

 private:
  void run_one(const Arguments& a, int64_t i) const {
    const int64_t size = n_ * n_;
    const auto* from = a.in<ComplexNumber>(0) + i * size;
    ComplexMatrix matrix(n_);
    for (int64_t k = 0; k < size; ++k) {
      matrix(k / n_, k % n_) = from[k];
      if (!std::isfinite(std::abs(from[k]))) fail("eig: the matrix is not finite");
    }
    find_eigenpairs(matrix, a.out<std::complex<float>>(0) + i * n_,
                    a.out<std::complex<float>>(1) + i * size);
  }
  int64_t n_, matrix_count_;
};

}  // namespace

std::unique_ptr<Kernel> make_eig(const Request& r) { return std::make_unique<EigKernel>(r); }

}  // namespace crescent::cpu
