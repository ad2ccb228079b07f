// StridedCopy: copies between two arrays with different strides. Slices, flips, transpositions,
// padding, concatenation and broadcasts are such copies.
#pragma once
#include <vector>

#include "threads/pool.h"

namespace crescent::cpu {

class StridedCopy {
 public:
  /// The size of an axis, and its strides in the source and in the target, in elements. Stride 0
  /// repeats an element; negative strides reverse the axis.
  struct Axis {
    int64_t size, source_stride, target_stride;
  };
  StridedCopy() = default;
  /// `axes` begin with the outermost one. `from` and `to` of run() point to the first element that
  /// is read and to the first one that is written.
  StridedCopy(std::vector<Axis> axes, size_t bytes);
  void run(const std::byte* from, std::byte* to, CpuThreads& threads) const;

 private:
  template <class T>
  void run_lines(const T* from, T* to, int64_t begin, int64_t end) const;
  template <class T>
  void run_short_lines(const T* from, T* to, int64_t begin, int64_t end) const;
  template <class T>
  void run_tiles(const T* from, T* to, int64_t begin, int64_t end) const;
  template <class T>
  void run_typed(const std::byte* from, std::byte* to, CpuThreads& threads) const;

  size_t element_bytes_ = 0;
  bool is_empty_ = false;
  Axis inner_axis_{1, 1, 1};       ///< the innermost axis of the target
  Axis transposed_axis_{1, 0, 0};  ///< in a transposition, the innermost axis of the source
  std::vector<Axis> outer_axes_;
  int64_t line_count_ = 1;  ///< number of combinations of the outer axes
};

}  // namespace crescent::cpu
