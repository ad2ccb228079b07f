// What reductions are made of. An accumulator takes 8 bytes: double for floats, int64 for integers
// and bool, so that long sums keep their precision and the order of the parts does not depend on
// threads.
#pragma once
#include <array>
#include <vector>

#include "elementwise/elementwise.h"
#include "kernel/loops.h"

namespace crescent::cpu {

/// Loops of one kind and dtype. `acc` are accumulators.
struct ReduceLoops {
  void (*start)(void* acc, int64_t n) = nullptr;  ///< the neutral element
  /// acc[i] takes in the i-th of rows of `width`, kRowLength elements at a time.
  void (*rows)(const void* x, int64_t rows, int64_t width, void* acc) = nullptr;
  /// partial[j] takes in x[i * stride + j] for i < rows, j < width, or `first` begins with them.
  /// Partials take 8 bytes at most.
  void (*columns)(const void* x, int64_t rows, int64_t width, int64_t stride, bool first,
                  void* partial) = nullptr;
  /// acc[j % width] takes in partial[j] for j < n, a multiple of width.
  void (*add_up)(const void* partial, int64_t n, int64_t width, void* acc) = nullptr;
  void (*merge)(const void* from, void* acc,
                int64_t n) = nullptr;  ///< acc takes in other accumulators
};
/// So many numbers of a row or column are added up in their own precision before they go to the
/// accumulator.
inline constexpr int64_t kRowLength = 2048, kColumnLength = 64;
ReduceLoops reduce_loops(ReduceKind kind, DType dtype);

/// A dense array seen as outer x row x width, where a row of `width` elements is either reduced
/// along itself or kept. Both kept and reduced axes may be scattered over the outer axes; axes of
/// one kind that touch are merged.
class ReduceGeometry {
 public:
  ReduceGeometry(const Shape& shape, const std::vector<int>& axes);
  bool operator==(const ReduceGeometry&) const = default;

  bool along_rows() const { return along_rows_; }  ///< the last axis is reduced
  int64_t width() const { return width_; }         ///< of the last axis
  int64_t outer() const { return outer_; }         ///< combinations of the kept axes but the last
  int64_t rows() const {
    return rows_;
  }  ///< rows that are reduced into one output (or row of outputs)
  int64_t adjacent() const { return adjacent_; }  ///< so many rows follow one another in memory
  /// Where row `row` of outer index `outer` begins, in elements.
  int64_t offset(int64_t outer, int64_t row) const;
  /// Of how many outer indices from this one on the rows follow one another in memory.
  int64_t neighbours(int64_t outer) const;
  int64_t size() const { return outer_ * rows_ * width_; }
  int64_t results() const { return along_rows_ ? outer_ : outer_ * width_; }

 private:
  struct Axis {
    int64_t size, stride;
    bool operator==(const Axis&) const = default;
  };
  static int64_t offset_in(const std::vector<Axis>& axes, int64_t index);
  bool along_rows_ = false;
  int64_t width_ = 1, outer_ = 1, rows_ = 1, adjacent_ = 1;
  std::vector<Axis> kept_, reduced_;  // without the last axis, outermost first
};

/// The reduction of an array, or of what an elementwise kernel makes of its own inputs: block by
/// block, which are reduced while they are in the cache and never go to memory. Several reductions
/// over the same axes may share that.
class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const Reduce& op, const Request& request, ReduceLoops loops);

  void run(const Arguments& a) override;
  std::string name() const override;
  size_t scratch_bytes() const override;
  double flops() const override;

  static constexpr size_t kMostResults = 4;
  /// Takes over `before`, whose output `output` it reads, which nobody else does; false when it is
  /// not to be.
  bool take(std::unique_ptr<Kernel>& before, int output);
  bool may_join(const ReduceKernel& other) const { return geometry_ == other.geometry_; }
  /// After that takes over another reduction, which reads `output` of the same kernel; its result
  /// comes after the others.
  void join(const ReduceKernel& other, int output);

 private:
  /// One of the results.
  struct Result {
    ReduceLoops loops;
    size_t in_bytes, out_bytes;
    UnaryLoop convert = nullptr, widen = nullptr;  ///< of accumulators
    double divisor = 1;
    int made = 0;  ///< output of what was taken over
  };
  /// Elements that are reduced at once: rows that lie `stride` apart.
  struct Block {
    int64_t begin, rows, width, stride;
    bool first = true, last = true;  ///< of those whose columns are added up together
  };
  class Worker;

  void cut();
  void set_tile(int64_t width);
  void add_made(Result& result, int output);
  size_t partial_bytes() const;
  size_t own_scratch() const;
  int64_t width_of(int64_t unit) const;
  template <class F>
  void each_block(int64_t unit, int64_t chunk, F&& f) const;
  /// Accumulators of each result.
  using Accumulators = std::array<std::byte*, kMostResults>;
  void run_whole(const Arguments& a, const Elementwise::Cells& cells) const;
  void reduce_units(Worker& worker, int64_t first, int64_t n, const Accumulators& acc) const;
  void reduce_unit(Worker& worker, int64_t unit, int64_t chunk, const Accumulators& acc) const;
  Accumulators of_part(const Arguments& a, int64_t part) const;
  void merge_unit(const Arguments& a, int64_t unit) const;
  void store(const Arguments& a, int64_t unit, const Accumulators& acc) const;
  void store_numbers(const Result& result, int64_t first, int64_t n, std::byte* acc,
                     std::byte* to) const;

  ReduceGeometry geometry_;
  std::vector<Result> results_;
  std::unique_ptr<Elementwise> before_;  ///< what was taken over
  std::vector<size_t> made_bytes_;       ///< of an element, per output of it
  int64_t tile_ = 1, tiles_ = 1, units_ = 1, chunks_ = 1, steps_ = 1, unit_elements_ = 1;
  bool split_row_ = false;  ///< one row is a unit
};

}  // namespace crescent::cpu
