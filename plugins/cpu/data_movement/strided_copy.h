// Copies between two arrays with strides of their own: slices, flips, transpositions, padding,
// concatenation and broadcasts are all this.
#pragma once
#include <vector>

#include "threads/pool.h"

namespace crescent::cpu {

class StridedCopy {
 public:
  /// Strides in elements; 0 repeats an element, negative ones go backwards.
  struct Axis {
    int64_t size, from, to;
  };
  StridedCopy() = default;
  /// Outermost axis first. `from` and `to` of run() point to the first element that is read and
  /// written.
  StridedCopy(std::vector<Axis> axes, size_t bytes);
  void run(const std::byte* from, std::byte* to, CpuThreads& threads) const;

 private:
  template <class T>
  void run_lines(const T* from, T* to, int64_t begin, int64_t end) const;
  template <class T>
  void run_short(const T* from, T* to, int64_t begin, int64_t end) const;
  template <class T>
  void run_tiles(const T* from, T* to, int64_t begin, int64_t end) const;
  template <class T>
  void run_typed(const std::byte* from, std::byte* to, CpuThreads& threads) const;

  size_t bytes_ = 0;
  bool empty_ = false;
  Axis inner_{1, 1, 1};   ///< innermost where the result lies
  Axis turned_{1, 0, 0};  ///< of a transposition: the axis that is innermost in the source
  std::vector<Axis> outer_;
  int64_t lines_ = 1;  ///< combinations of outer axes
};

}  // namespace crescent::cpu
