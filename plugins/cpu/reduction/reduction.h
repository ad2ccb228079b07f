// The building blocks of reductions. An accumulator has 8 bytes: it is a double for floats and an
// int64 for integers and bool, so that long sums stay precise. The division of the work does not
// depend on the number of threads.
#pragma once
#include <array>
#include <vector>

#include "elementwise/elementwise.h"
#include "kernel/loops.h"

namespace crescent::cpu {

/// The loops for one kind of reduction and one dtype. `acc` points to accumulators.
struct ReduceLoops {
  void (*start)(void* acc, int64_t n) = nullptr;  ///< sets n accumulators to the neutral element
  /// Combines the elements of row i with acc[i], for `rows` contiguous rows of `width` elements,
  /// kRowLength elements at a time. Here and below, "combines" and "adds" mean the operation of the
  /// reduction: sum, maximum, ...
  void (*reduce_rows)(const void* x, int64_t rows, int64_t width, void* acc) = nullptr;
  /// Adds x[i * stride + j], for all i < rows, to partial[j] for j < width; if `is_first`, the
  /// previous values of `partial` are discarded. Partial results have at most 8 bytes.
  void (*reduce_columns)(const void* x, int64_t rows, int64_t width, int64_t stride, bool is_first,
                         void* partial) = nullptr;
  /// Adds partial[j] to acc[j % width] for j < n, where n is a multiple of width.
  void (*add_up)(const void* partial, int64_t n, int64_t width, void* acc) = nullptr;
  /// Adds the n accumulators at `from` to those at `acc`.
  void (*merge)(const void* from, void* acc, int64_t n) = nullptr;
};
/// The number of elements of a row or column that are summed in the dtype of the elements before
/// the sum is added to the accumulator.
inline constexpr int64_t kRowLength = 2048, kColumnLength = 64;
ReduceLoops reduce_loops(ReduceKind kind, DType dtype);

/// A dense array seen as (outer, rows, width). The last axis is a row of `width` elements; it is
/// either reduced or kept. The other axes may be kept or reduced in any order; adjacent axes that
/// are both kept or both reduced are merged.
class ReduceGeometry {
 public:
  ReduceGeometry(const Shape& shape, const std::vector<int>& axes);
  bool operator==(const ReduceGeometry&) const = default;

  bool reduces_last_axis() const { return reduces_last_axis_; }
  int64_t width() const { return width_; }  ///< length of the last axis
  /// The number of combinations of indices of the kept axes, without the last axis.
  int64_t outer() const { return outer_; }
  /// The number of rows that are reduced to one result, or to one row of results.
  int64_t rows() const { return rows_; }
  /// The number of successive reduced rows that are contiguous in memory.
  int64_t adjacent_rows() const { return adjacent_rows_; }
  /// The offset, in elements, of reduced row `row` for the combination `outer` of indices of the
  /// kept axes.
  int64_t offset(int64_t outer, int64_t row) const;
  /// The number of consecutive indices of the kept axes, beginning with `outer`, whose rows are
  /// contiguous in memory.
  int64_t contiguous_outer_count(int64_t outer) const;
  int64_t size() const { return outer_ * rows_ * width_; }
  int64_t result_count() const { return reduces_last_axis_ ? outer_ : outer_ * width_; }

 private:
  struct Axis {
    int64_t size, stride;
    bool operator==(const Axis&) const = default;
  };
  static int64_t offset_in(const std::vector<Axis>& axes, int64_t index);
  bool reduces_last_axis_ = false;
  // the results of width(), outer(), rows() and adjacent_rows()
  int64_t width_ = 1, outer_ = 1, rows_ = 1, adjacent_rows_ = 1;
  std::vector<Axis> kept_axes_,
      reduced_axes_;  // the axes except the last one, from the outermost one
};

/// The reduction of an array, or of the outputs of an elementwise kernel, which are computed block
/// by block and reduced while they are in the cache, so that they are never written to memory.
/// Several reductions over the same axes can share an elementwise kernel.
class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const Reduce& op, const Request& request, ReduceLoops loops);

  void run(const Arguments& a) const override;
  std::string name() const override;
  size_t scratch_bytes() const override;
  double flops() const override;

  static constexpr size_t kMaxResults = 4;
  /// Fuses the elementwise kernel `previous` into this kernel: run() then also computes `previous`,
  /// whose output `output` is read by this reduction only. Returns false if this is not possible or
  /// would be slower.
  bool fuse_elementwise(std::unique_ptr<Kernel>& previous, int output);
  bool may_join(const ReduceKernel& other) const { return geometry_ == other.geometry_; }
  /// Adds another reduction, which reads output `output` of the elementwise kernel that
  /// fuse_elementwise() fused. The other reduction's result becomes the last output.
  void join(const ReduceKernel& other, int output);

 private:
  /// A result of the kernel, that is, one of the reductions that share the elementwise kernel.
  struct Result {
    ReduceLoops loops;
    size_t in_bytes, out_bytes;
    /// Loops that convert accumulators to the dtype of the result.
    UnaryLoop convert = nullptr, widen = nullptr;
    double divisor = 1;
    int source = 0;  ///< index of the output of the elementwise kernel that is reduced
  };
  /// The elements that one call of a loop reduces: `rows` rows of `width` elements, which begin
  /// `stride` elements apart.
  struct Block {
    int64_t begin, rows, width, stride;
    /// Whether the block is the first, and the last, of the blocks that are summed in the same
    /// partial column sums.
    bool is_first = true, is_last = true;
  };
  class TaskState;

  void divide_work();
  void set_tile(int64_t width);
  void set_source(Result& result, int output);
  size_t partial_bytes() const;
  size_t elementwise_scratch_bytes() const;
  int64_t width_of(int64_t work_unit) const;
  template <class F>
  void for_each_block(int64_t work_unit, int64_t chunk, F&& f) const;
  /// The address of the accumulators of each result.
  using Accumulators = std::array<std::byte*, kMaxResults>;
  void run_undivided_units(const Arguments& a, const Elementwise::Cells& cells) const;
  void reduce_units(TaskState& task, int64_t first, int64_t n, const Accumulators& acc) const;
  void reduce_unit(TaskState& task, int64_t work_unit, int64_t chunk,
                   const Accumulators& acc) const;
  Accumulators accumulators_of_part(const Arguments& a, int64_t part) const;
  void merge_unit(const Arguments& a, int64_t work_unit) const;
  void store(const Arguments& a, int64_t work_unit, const Accumulators& acc) const;
  void store_results(const Result& result, int64_t first, int64_t n, std::byte* acc,
                     std::byte* to) const;

  ReduceGeometry geometry_;
  std::vector<Result> results_;
  std::unique_ptr<Elementwise> elementwise_;  ///< the fused elementwise kernel, or null
  std::vector<size_t> output_bytes_;          ///< bytes per element of each output of elementwise_
  int64_t tile_columns_ = 1;                  ///< the number of columns of a tile
  int64_t tiles_per_row_ = 1;                 ///< the number of tiles of a row
  int64_t unit_count_ = 1;                    ///< the number of units (see divide_work())
  int64_t chunks_per_unit_ = 1;               ///< the number of chunks of a unit
  int64_t step_count_ = 1;     ///< the number of rows, or of elements of a row, that chunks divide
  int64_t unit_elements_ = 1;  ///< the number of elements that a unit reduces
  bool divides_rows_ = false;  ///< whether each unit reduces one row, which chunks divide
  bool sums_rows_ = false;     ///< whether the kernel sums the floats of rows
};

}  // namespace crescent::cpu
