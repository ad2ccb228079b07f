// Classes that all matmul kernels use: the matrix products of a request, and the operations on a
// result before it is stored.
#pragma once
#include <algorithm>
#include <vector>

#include "kernel/half.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

/// A matmul as `count()` products of (m,k) and (k,n) matrices. If all matrices a are multiplied by
/// the same b, their leading axes are merged with m.
struct MatmulPlan {
  explicit MatmulPlan(const Request& request);

  bool transpose_a, transpose_b, has_bias;
  Combine combine;
  ActivationKind activation;
  int64_t m, n, k;
  /// Offsets in elements of the matrices of each product; that of product i in c is i * m * n.
  std::vector<int64_t> a, b;

  /// Whether this is a gradient a'b whose b is row-major and has `columns` columns.
  bool has_gradient_layout(int64_t columns) const {
    return transpose_a && !transpose_b && count() == 1 && n == columns;
  }
  /// The index of the input with which c is combined.
  int combined_index() const { return has_bias ? 3 : 2; }
  int64_t count() const { return static_cast<int64_t>(a.size()); }
  int64_t lda() const { return transpose_a ? m : k; }
  int64_t ldb() const { return transpose_b ? k : n; }
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
           static_cast<double>(count());
  }
};

/// The division of matrix products into tiles of the result and partial sums. If there are few
/// tiles with long sums (gradients of weights), these are split into partial sums by the shape
/// only, so that results do not depend on the number of threads. The number of tiles does not
/// change any result: for many threads there are more tiles, although shared operands are then read
/// or copied more often.
struct MatmulCut {
  struct Tile {
    /// The index of the product, the first row and column, and the size of the tile.
    int64_t item, i, j, rows, columns;
  };

  enum class ThreadCount { few, many, many_same_columns };

  MatmulCut(const MatmulPlan& plan, bool split_sums, ThreadCount thread_count = ThreadCount::few);

  int64_t tiles() const { return row_tiles * column_tiles; }  ///< number of tiles per product
  Tile tile(int64_t index) const;
  /// Makes each tile consist of whole rows of the result.
  void use_whole_rows();

  ThreadCount thread_count;
  int64_t m, n;
  /// Size of a tile, except at the edges, and number of terms of a partial sum.
  int64_t rows, columns, depth;
  int64_t row_tiles, column_tiles, sums;
};

/// Combines c (rows, columns) with x, whose rows are `ldx` apart, as `how` says.
void combine(Combine how, const float* x, int64_t ldx, int64_t rows, int64_t columns, float* c,
             int64_t ldc);
void combine(Combine how, const double* x, int64_t ldx, int64_t rows, int64_t columns, double* c,
             int64_t ldc);
void combine(Combine how, const BFloat16* x, int64_t ldx, int64_t rows, int64_t columns, float* c,
             int64_t ldc);

/// Replaces c (rows, columns) by activation(c + bias); bias may be null.
template <class T>
void finish(T* c, int64_t rows, int64_t columns, int64_t ldc, const T* bias,
            ActivationKind activation);

/// Whether an activation costs almost nothing if it is applied just before a value is stored.
inline bool is_cheap(ActivationKind activation) {
  return activation == ActivationKind::none || activation == ActivationKind::relu;
}

/// sum += part, elementwise.
template <class T>
void accumulate(T* sum, const T* addend, int64_t count);

/// The sums of the columns of b, which a matrix product can compute in addition. Partial sums are
/// in scratch memory; if there is only one, it is in the output.
class ColumnSums {
 public:
  /// Makes the product compute the sums as output `output`.
  void enable(int output) { output_ = output; }
  bool is_enabled() const { return output_ >= 0; }
  int64_t scratch_values(const MatmulPlan& p, int64_t sums) const {
    return is_enabled() && sums > 1 ? sums * p.n : 0;
  }
  template <class T>
  T* partial_sums(const Arguments& a, const MatmulPlan& p, int64_t sums, int64_t sum,
                  T* scratch) const {
    return sums == 1 ? a.out<T>(output_) : scratch + sum * p.n;
  }
  /// Writes the total of the partial sums to the output.
  template <class T>
  void end(const Arguments& a, const MatmulPlan& p, int64_t sums, const T* scratch) const {
    if (!is_enabled() || sums == 1) return;
    T* total = a.out<T>(output_);
    std::copy_n(scratch, p.n, total);
    for (int64_t i = 1; i < sums; ++i) accumulate(total, scratch + i * p.n, p.n);
  }

 private:
  int output_ = -1;
};

// for products with few operations
std::unique_ptr<Kernel> make_direct_matmul(const Request& request);
// for products in which a has a single row or b a single column
std::unique_ptr<Kernel> make_row_matmul(const Request& request);
std::unique_ptr<Kernel> make_tiled_matmul(const Request& request);  // for float32 and float64
// for bfloat16, and for float32 by splitting values into bfloat16 parts
std::unique_ptr<Kernel> make_amx_matmul(const Request& request);
std::unique_ptr<Kernel> make_onednn_matmul(const Request& request);  // for bfloat16
/// make_onednn_matmul() for products that are slower by make_amx_matmul() on this processor: those
/// with short sums or few rows, if the processor has no tiles.
std::unique_ptr<Kernel> make_small_onednn_matmul(const Request& request);
std::unique_ptr<Kernel> make_integer_matmul(const Request& request);
std::unique_ptr<Kernel> make_byte_matmul(const Request& request);  // for int8 with int32 results

}  // namespace crescent::cpu
