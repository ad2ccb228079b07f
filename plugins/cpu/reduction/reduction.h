// What reductions are made of. An accumulator takes 8 bytes: double for floats, int64 for integers
// and bool, so that long sums keep their precision and the order of the parts does not depend on
// threads.
#pragma once
#include <vector>

#include "engine/kernel.h"
#include "vectors/loops.h"

namespace crescent::cpu {

/// Loops of one kind and dtype. `acc` are accumulators.
struct ReduceLoops {
  void (*start)(void* acc, int64_t n) = nullptr;               ///< the neutral element
  void (*row)(const void* x, int64_t n, void* acc) = nullptr;  ///< acc[0] takes in x[0..n)
  /// acc[j] takes in x[i * stride + j] for i < rows, j < width <= kTileWidth.
  void (*columns)(const void* x, int64_t rows, int64_t width, int64_t stride, void* acc) = nullptr;
  void (*merge)(const void* from, void* acc,
                int64_t n) = nullptr;  ///< acc takes in other accumulators
};
inline constexpr int64_t kTileWidth = 512;
ReduceLoops reduce_loops(ReduceKind kind, DType dtype);

/// A dense array seen as outer x row x width, where a row of `width` elements is either reduced
/// along itself or kept. Both kept and reduced axes may be scattered over the outer axes; axes of
/// one kind that touch are merged.
class ReduceGeometry {
 public:
  ReduceGeometry(const Shape& shape, const std::vector<int>& axes);

  bool along_rows() const { return along_rows_; }  ///< the last axis is reduced
  int64_t width() const { return width_; }         ///< of the last axis
  int64_t outer() const { return outer_; }         ///< combinations of the kept axes but the last
  int64_t rows() const {
    return rows_;
  }  ///< rows that are reduced into one output (or row of outputs)
  int64_t adjacent() const { return adjacent_; }  ///< so many rows follow one another in memory
  /// Where row `row` of outer index `outer` begins, in elements.
  int64_t offset(int64_t outer, int64_t row) const;

 private:
  struct Axis {
    int64_t size, stride;
  };
  static int64_t offset_in(const std::vector<Axis>& axes, int64_t index);
  bool along_rows_ = false;
  int64_t width_ = 1, outer_ = 1, rows_ = 1, adjacent_ = 1;
  std::vector<Axis> kept_, reduced_;  // without the last axis, outermost first
};

}  // namespace crescent::cpu
