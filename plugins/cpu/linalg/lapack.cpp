// Kernels that call LAPACK for ops of linalg_op_types.h: factors, solutions and eigenvalues of
// matrices in float64, and of large matrices in float32. Small matrices are computed by the loops
// of the plugin `linalg` instead, which use all threads. LAPACK expects columns in memory, so it
// sees a row-major matrix as its transpose.
#include <algorithm>
#include <cmath>
#include <limits>

#include "crescent/program/linalg_op_types.h"
#include "libraries/openblas_functions.h"
#include "linalg/lapack.h"
#include "matmul/blas.h"

namespace crescent::cpu {
namespace {

/// The largest number of rows for which the loops of the plugin `linalg` are faster.
constexpr int64_t kMaxSmallRows = 24;
template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

/// Transposes `from` (rows, columns) to `to` (columns, rows).
template <class T>
void transpose(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kTileRows = 16;
  for (int64_t first = 0; first < rows; first += kTileRows)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = first; i < std::min(first + kTileRows, rows); ++i)
        to[j * rows + i] = from[i * columns + j];
}

/// The base of kernels over a batch of (n, n) matrices; it stores the number of values per matrix
/// of each operand.
class BatchKernel : public Kernel {
 public:
  explicit BatchKernel(const Request& r)
      : n_(static_cast<int>(r.inputs[0].shape[-1])),
        matrix_count_(r.inputs[0].shape.slice(0, r.inputs[0].shape.rank() - 2).size()) {}
  std::string name() const override { return "openblas lapack"; }
  void run(const Arguments& a) const final {
    const BlasLock lock;
    for (int64_t i = 0; i < matrix_count_; ++i) run_one(a, i);
  }

 protected:
  int64_t size() const { return int64_t{n_} * n_; }
  virtual void run_one(const Arguments& a, int64_t i) const = 0;
  int n_;
  int64_t matrix_count_;
};

template <class T, class... A>
void syevd(A... arguments) {
  for_type<T>(ssyevd_, dsyevd_)(arguments...);
}

/// The kernel of Eigh: (symmetric a) -> eigenvalues in ascending order, eigenvectors in columns.
template <class T>
class EighKernel final : public BatchKernel {
 public:
  explicit EighKernel(const Request& r) : BatchKernel(r) {
    T best_size = 0;
    const int query_size = -1;
    int info = 0;
    const BlasLock lock;
    T* const no_array = nullptr;
    syevd<T>("V", "U", &n_, no_array, &n_, no_array, &best_size, &query_size, &integer_count_,
             &query_size, &info, 1, 1);
    work_size_ = work_size(best_size);
  }
  size_t scratch_bytes() const override {
    return (size() + work_size_) * sizeof(T) + integer_count_ * sizeof(int);
  }

 private:
  void run_one(const Arguments& a, int64_t i) const override {
    auto* matrix = reinterpret_cast<T*>(a.scratch);
    T *work = matrix + size(), *values = a.out<T>(0) + i * n_, *vectors = a.out<T>(1) + i * size();
    std::copy_n(a.in<T>(0) + i * size(), size(), matrix);
    int info = std::all_of(matrix, matrix + size(), [](T x) { return std::isfinite(x); }) ? 0 : 1;
    if (info == 0)
      syevd<T>("V", "U", &n_, matrix, &n_, values, work, &work_size_,
               reinterpret_cast<int*>(work + work_size_), &integer_count_, &info, 1, 1);
    transpose(matrix, n_, n_, vectors);
    if (info == 0) return;
    std::fill_n(values, n_, kNan<T>), std::fill_n(vectors, size(), kNan<T>);
  }
  int work_size_ = 0, integer_count_ = 0;
};

template <class T, class... A>
void getrf(A... arguments) {
  for_type<T>(sgetrf_, dgetrf_)(arguments...);
}
template <class T, class... A>
void trsm(A... arguments) {
  for_type<T>(strsm_, dtrsm_)(arguments...);
}

/// The kernel of Solve: (a, b (n, columns)) -> x = a^-1 b. LAPACK sees the transposes and solves x'
/// a' = b', with a' = p l u.
template <class T>
class SolveKernel final : public BatchKernel {
 public:
  explicit SolveKernel(const Request& r)
      : BatchKernel(r), columns_(static_cast<int>(r.inputs[1].shape[-1])) {}
  size_t scratch_bytes() const override { return size() * sizeof(T) + n_ * sizeof(int); }
  double flops() const override {
    return static_cast<double>(matrix_count_) * n_ * n_ * (2.0 / 3 * n_ + 2.0 * columns_);
  }
  bool in_place(int input) const override { return input == 1; }

 private:
  void run_one(const Arguments& a, int64_t i) const override {
    const int64_t right_size = int64_t{n_} * columns_;
    auto* matrix = reinterpret_cast<T*>(a.scratch);
    int* pivots = reinterpret_cast<int*>(matrix + size());
    T* x = a.out<T>(0) + i * right_size;
    std::copy_n(a.in<T>(0) + i * size(), size(), matrix);
    if (const T* b = a.in<T>(1) + i * right_size; b != x) std::copy_n(b, right_size, x);
    int info = 0;
    getrf<T>(&n_, &n_, matrix, &n_, pivots, &info);
    const T one = 1;
    trsm<T>("R", "U", "N", "N", &columns_, &n_, &one, matrix, &n_, x, &columns_, 1, 1, 1, 1);
    trsm<T>("R", "L", "N", "U", &columns_, &n_, &one, matrix, &n_, x, &columns_, 1, 1, 1, 1);
    for (int64_t row = n_ - 1; row >= 0; --row)
      if (const int64_t pivot_row = pivots[row] - 1; pivot_row != row)
        std::swap_ranges(x + row * columns_, x + (row + 1) * columns_, x + pivot_row * columns_);
  }
  int columns_;
};

/// The kernel of TriangularSolve: (a, b (n, columns)) -> x = a^-1 b. Only one triangle of a is
/// read.
template <class T>
class TriangularSolveKernel final : public BatchKernel {
 public:
  explicit TriangularSolveKernel(const Request& r)
      : BatchKernel(r),
        columns_(static_cast<int>(r.inputs[1].shape[-1])),
        triangle_(r.op_as<TriangularSolve>()->lower ? "U" : "L") {}
  double flops() const override { return static_cast<double>(matrix_count_) * n_ * n_ * columns_; }
  bool in_place(int input) const override { return input == 1; }

 private:
  void run_one(const Arguments& a, int64_t i) const override {
    const int64_t right_size = int64_t{n_} * columns_;
    T* x = a.out<T>(0) + i * right_size;
    if (const T* b = a.in<T>(1) + i * right_size; b != x) std::copy_n(b, right_size, x);
    const T one = 1;
    trsm<T>("R", triangle_, "N", "N", &columns_, &n_, &one, a.in<T>(0) + i * size(), &n_, x,
            &columns_, 1, 1, 1, 1);
  }
  int columns_;
  const char* triangle_;  ///< of the transpose of a, which LAPACK sees
};

/// The kernel of Cholesky: (a) -> lower triangular l with l l' = a; NaN where a is not positive
/// definite.
class CholeskyKernel final : public BatchKernel {
 public:
  using BatchKernel::BatchKernel;
  bool in_place(int) const override { return true; }

 private:
  void run_one(const Arguments& a, int64_t i) const override {
    double* l = a.out<double>(0) + i * size();
    if (const double* from = a.in<double>(0) + i * size(); from != l) std::copy_n(from, size(), l);
    int info = 0;
    dpotrf_("U", &n_, l, &n_, &info, 1);
    for (int64_t row = 0; row < n_; ++row) {
      if (info != 0) std::fill_n(l + row * n_, row + 1, kNan<double>);
      std::fill(l + row * n_ + row + 1, l + (row + 1) * n_, 0.0);
    }
  }
};

/// The kernel of Lu: (a) -> LU factors, zero-based pivots, sign and logarithm of the determinant.
template <class T>
class LuKernel final : public BatchKernel {
 public:
  using BatchKernel::BatchKernel;
  size_t scratch_bytes() const override { return size() * sizeof(T); }

 private:
  void run_one(const Arguments& a, int64_t i) const override {
    auto* matrix = reinterpret_cast<T*>(a.scratch);
    int32_t* pivots = a.out<int32_t>(1) + i * n_;
    transpose(a.in<T>(0) + i * size(), n_, n_, matrix);
    int info = 0;
    getrf<T>(&n_, &n_, matrix, &n_, pivots, &info);
    transpose(matrix, n_, n_, a.out<T>(0) + i * size());
    double sign = 1, log_determinant = 0;
    for (int k = 0; k < n_; ++k) {
      const double x = matrix[int64_t{k} * n_ + k];
      if (--pivots[k] != k) sign = -sign;
      sign *= x < 0 ? -1 : x == 0 ? 0 : 1;
      log_determinant += std::log(std::abs(x));
    }
    a.out<double>(2)[i] = sign, a.out<double>(3)[i] = log_determinant;
  }
};

/// Makes a kernel of class K; returns null if an input has a dtype other than `dtype`, a rank below
/// 2 or a size that LAPACK cannot take, and if the matrices have fewer than `min_rows` rows.
template <class K>
std::unique_ptr<Kernel> make_batch(const Request& r, int64_t min_rows,
                                   DType dtype = DType::float64) {
  for (const TensorSpec& in : r.inputs)
    if (in.dtype != dtype || in.shape.rank() < 2 || !fits_blas(in.shape[-1])) return nullptr;
  return r.inputs[0].shape[-1] >= min_rows ? std::make_unique<K>(r) : nullptr;
}
/// Makes a kernel of class K for the dtype of the first input, float32 or float64; returns null in
/// the cases in which make_batch() does.
template <template <class> class K>
std::unique_ptr<Kernel> make_typed_batch(const Request& r, int64_t min_rows) {
  if (r.inputs[0].dtype == DType::float32) return make_batch<K<float>>(r, min_rows, DType::float32);
  return make_batch<K<double>>(r, min_rows);
}

}  // namespace

std::unique_ptr<Kernel> make_eigh(const Request& r) { return make_typed_batch<EighKernel>(r, 1); }
std::unique_ptr<Kernel> make_solve(const Request& r) {
  return make_typed_batch<SolveKernel>(r, kMaxSmallRows);
}
std::unique_ptr<Kernel> make_triangular_solve(const Request& r) {
  return make_typed_batch<TriangularSolveKernel>(r, kMaxSmallRows);
}
std::unique_ptr<Kernel> make_cholesky(const Request& r) {
  return make_batch<CholeskyKernel>(r, kMaxSmallRows);
}
std::unique_ptr<Kernel> make_lu(const Request& r) {
  const Shape& a = r.inputs[0].shape;
  const bool is_square = a.rank() >= 2 && a[-1] == a[-2];
  return is_square ? make_typed_batch<LuKernel>(r, kMaxSmallRows) : nullptr;
}

}  // namespace crescent::cpu
