// QR by blocked Householder reflections: I - V T V' is the product of as many reflections as V has
// columns, so nearly all of the work is matrix products. Blocks are composed recursively from
// halves (Elmroth and Gustavson), the smallest ones column by column. Signs are those of LAPACK.
// The division of the work depends on shapes only, so results are identical for any number of
// threads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernel/typed.h"
#include "linalg/qr.h"
#include "matmul/blas.h"

namespace crescent::cpu {
namespace {

// numbers of columns of the smallest and of the largest block
constexpr int64_t kLeafColumns = 8, kMaxBlockColumns = 128;
constexpr int64_t kTaskColumns = 256;  // number of columns to which a task applies reflections

template <class T>
struct Matrix {
  T* first;
  int64_t step;  ///< distance between rows, in elements
  T* at(int64_t row, int64_t column) const { return first + row * step + column; }
};

enum class TransposedOperand { neither, first };

/// Computes c = a b, or c += a b if `adds_to_c`. With TransposedOperand::first, a is transposed.
template <class T>
void multiply(TransposedOperand transposed, int64_t m, int64_t n, int64_t k, Matrix<T> a,
              Matrix<T> b, Matrix<T> c, bool adds_to_c = false) {
  if (m == 0 || n == 0) return;
  packed_gemm<T>({transposed == TransposedOperand::first, false, m, n, k, a.first, a.step, b.first,
                  b.step, adds_to_c ? T{1} : T{0}, c.first, c.step});
}

template <class T>
T dot(const T* a, const T* b, int64_t count) {
  constexpr int64_t kLanes = 16;
  T sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  T total = 0;
  for (; i < count; ++i) total += a[i] * b[i];
  for (T sum : sums) total += sum;
  return total;
}

/// The Euclidean norm of a vector, without overflow or underflow.
template <class T>
T length(const T* x, int64_t count) {
  T largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
  if (!(largest > 0)) return std::accumulate(x, x + count, T{0});  // all elements are zero or NaN
  const T scale =
      std::clamp(largest, std::numeric_limits<T>::min() * 4, std::numeric_limits<T>::max() / 4);
  T sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += (x[i] / scale) * (x[i] / scale);
  return scale * std::sqrt(sum);
}

template <class T>
class QrKernel final : public Kernel {
 public:
  explicit QrKernel(const Request& r)
      : m_(r.inputs[0].shape[0]),
        n_(r.inputs[0].shape[1]),
        k_(std::min(m_, n_)),
        block_columns_(std::clamp<int64_t>(k_, 1, kMaxBlockColumns)) {}
  std::string name() const override { return "blocked householder"; }
  double flops() const override {
    return 4.0 * static_cast<double>(m_) * static_cast<double>(n_) * static_cast<double>(k_);
  }
  size_t scratch_bytes() const override {
    const int64_t max_columns = std::max(n_, k_);
    return static_cast<size_t>(m_ * n_ + m_ * k_ +
                               pieces(k_, block_columns_) * block_columns_ * block_columns_ +
                               2 * block_columns_ * max_columns +
                               2 * block_columns_ * block_columns_ + kLeafColumns * m_) *
           sizeof(T);
  }

  void run(const Arguments& a) const override {
    if (k_ == 0) return;
    T* next_free = reinterpret_cast<T*>(a.scratch);
    auto allocate_matrix = [&](int64_t rows, int64_t columns) {
      return Matrix<T>{std::exchange(next_free, next_free + rows * columns), columns};
    };
    Workspace w{allocate_matrix(m_, n_),
                allocate_matrix(m_, k_),
                allocate_matrix(pieces(k_, block_columns_) * block_columns_, block_columns_),
                {allocate_matrix(block_columns_, std::max(n_, k_)),
                 allocate_matrix(block_columns_, std::max(n_, k_))},
                {allocate_matrix(block_columns_, block_columns_),
                 allocate_matrix(block_columns_, block_columns_)},
                next_free,
                a.threads};
    std::copy_n(a.in<T>(0), m_ * n_, w.matrix.first);
    std::fill_n(w.v.first, m_ * k_, T{0});
    std::fill_n(w.t.first, pieces(k_, block_columns_) * block_columns_ * block_columns_, T{0});
    for (int64_t j = 0; j < k_; j += block_columns_) {
      const int64_t width = std::min(block_columns_, k_ - j);
      factor(w, j, width);
      reflect(w, j, width, w.matrix, j + width, n_, TransposedOperand::first);
    }
    write_r(w, a.out<T>(1));
    write_q(w, {a.out<T>(0), k_});
  }

 private:
  struct Workspace {
    Matrix<T> matrix, v, t;  ///< t has the matrices -T of all blocks, one below the other
    Matrix<T> wide[2], small[2];
    T* columns;  ///< the columns of a smallest block, each contiguous
    CpuThreads& threads;
  };

  /// The matrix -T of the block that contains `column`, without the rows and columns before
  /// `column`'s own.
  Matrix<T> t_at(const Workspace& w, int64_t column) const {
    return {w.t.at(column, column % block_columns_), block_columns_};
  }

  /// Applies the reflections of a block to columns [first, last) of `target`: adds V (-T) V'
  /// target, or V (-T') V' target for the reflections in reverse order.
  void reflect_columns(const Workspace& w, int64_t j, int64_t width, Matrix<T> target,
                       int64_t first, int64_t last, TransposedOperand transposed) const {
    const int64_t rows = m_ - j, count = last - first;
    const Matrix<T> v{w.v.at(j, j), k_}, columns{target.at(j, first), target.step};
    const Matrix<T> products{w.wide[0].at(0, first), w.wide[0].step},
        transformed{w.wide[1].at(0, first), w.wide[1].step};
    multiply(TransposedOperand::first, width, count, rows, v, columns, products);
    multiply(transposed, width, count, width, t_at(w, j), products, transformed);
    multiply(TransposedOperand::neither, rows, count, width, v, transformed, columns, true);
  }

  void reflect(const Workspace& w, int64_t j, int64_t width, Matrix<T> target, int64_t first,
               int64_t last, TransposedOperand transposed) const {
    w.threads.blocks(last - first, kTaskColumns, [&](int64_t begin, int64_t end) {
      reflect_columns(w, j, width, target, first + begin, first + end, transposed);
    });
  }

  /// Factors `width` columns of the matrix from column j on: replaces them by R, and stores their
  /// reflections in V and T.
  void factor(const Workspace& w, int64_t j, int64_t width) const {
    if (width <= kLeafColumns) return factor_leaf(w, j, width);
    const int64_t left_width = pieces(width / 2, kLeafColumns) * kLeafColumns,
                  right_width = width - left_width, next = j + left_width;
    factor(w, j, left_width);
    reflect_columns(w, j, left_width, w.matrix, next, next + right_width, TransposedOperand::first);
    factor(w, next, right_width);
    const Matrix<T> v1{w.v.at(next, j), k_}, v2{w.v.at(next, next), k_},
        t1 = t_at(w, j), corner{t1.at(0, left_width), block_columns_};
    multiply(TransposedOperand::first, left_width, right_width, m_ - next, v1, v2, w.small[0]);
    multiply(TransposedOperand::neither, left_width, right_width, left_width, t1, w.small[0],
             w.small[1]);
    multiply(TransposedOperand::neither, left_width, right_width, right_width, w.small[1],
             t_at(w, next), corner);
  }

  void factor_leaf(const Workspace& w, int64_t j, int64_t width) const {
    const int64_t rows = m_ - j;
    auto column = [&](int64_t i) { return w.columns + i * rows; };
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < width; ++i) column(i)[r] = *w.matrix.at(j + r, j + i);
    const Matrix<T> t = t_at(w, j);
    for (int64_t i = 0; i < width; ++i) {
      T* x = column(i);
      for (int64_t r = 0; r < i; ++r) *w.matrix.at(j + r, j + i) = std::exchange(x[r], T{0});
      const T tau = reflection(x + i, rows - i, *w.matrix.at(j + i, j + i));
      for (int64_t other_column = i + 1; other_column < width; ++other_column) {
        const T factor = tau * dot(x + i, column(other_column) + i, rows - i);
        for (int64_t r = i; r < rows; ++r) column(other_column)[r] -= factor * x[r];
      }
      add_to_t(t, i, tau, [&](int64_t earlier_column) {
        return dot(column(earlier_column) + i, x + i, rows - i);
      });
    }
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < width; ++i) *w.v.at(j + r, j + i) = column(i)[r];
  }

  /// Replaces x by the vector v of a reflection, with v[0] = 1, such that x - tau v v'x is (beta,
  /// 0, ...); returns tau.
  static T reflection(T* x, int64_t count, T& beta) {
    const T alpha = std::exchange(x[0], T{1}), rest_length = length(x + 1, count - 1);
    beta = alpha;
    if (rest_length == 0) return 0;
    beta = -std::copysign(std::hypot(alpha, rest_length), alpha);
    const T scale = alpha - beta;
    for (int64_t r = 1; r < count; ++r) x[r] /= scale;
    return (beta - alpha) / beta;
  }

  /// Adds column i of -T, whose diagonal element is -tau. The elements above it are computed from
  /// the products of v with the earlier columns (overlap).
  template <class Overlap>
  static void add_to_t(Matrix<T> t, int64_t i, T tau, Overlap overlap) {
    T overlaps[kLeafColumns];
    for (int64_t earlier_column = 0; earlier_column < i; ++earlier_column)
      overlaps[earlier_column] = tau * overlap(earlier_column);
    for (int64_t row = 0; row < i; ++row) {
      T sum = 0;
      for (int64_t earlier_column = row; earlier_column < i; ++earlier_column)
        sum -= *t.at(row, earlier_column) * overlaps[earlier_column];
      *t.at(row, i) = sum;
    }
    *t.at(i, i) = -tau;
  }

  void write_r(const Workspace& w, T* r) const {
    for (int64_t i = 0; i < k_; ++i)
      for (int64_t j = 0; j < n_; ++j) r[i * n_ + j] = j < i ? T{0} : *w.matrix.at(i, j);
  }

  /// Computes Q by applying the reflections to the identity matrix, the last block first. A block
  /// changes no columns before its first one, because they are still columns of the identity
  /// matrix.
  void write_q(const Workspace& w, Matrix<T> q) const {
    std::fill_n(q.first, m_ * k_, T{0});
    for (int64_t i = 0; i < k_; ++i) *q.at(i, i) = 1;
    for (int64_t j = (k_ - 1) / block_columns_ * block_columns_; j >= 0; j -= block_columns_)
      reflect(w, j, std::min(block_columns_, k_ - j), q, j, k_, TransposedOperand::neither);
  }

  int64_t m_, n_, k_, block_columns_;
};

}  // namespace

std::unique_ptr<Kernel> make_qr(const Request& r) {
  if (r.inputs[0].shape.rank() != 2) return nullptr;
  return make_typed<QrKernel>(r, r.inputs[0].dtype);
}

}  // namespace crescent::cpu
