// Pooling over windows of one image, with channels last.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "kernel/half.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

struct PoolPlan {
  struct Axis {
    int64_t in = 1, out = 1, window = 1, stride = 1, before = 0;

    /// The range [first, last) of inputs of window `i` that are inside of the image; empty where
    /// the window has only padding.
    int64_t first(int64_t i) const { return std::max<int64_t>(i * stride - before, 0); }
    int64_t last(int64_t i) const {
      return std::max(first(i), std::min(i * stride - before + window, in));
    }
  };

  PoolPlan(const Request& request, bool backward);

  bool max, argmax_indices;
  std::array<Axis, 3> axes;    ///< missing axes come first, with size 1
  std::vector<int64_t> whole;  ///< pixel offsets of a window that is inside, relative to its first
  int64_t batch, channels;

  int64_t in_size() const { return axes[0].in * axes[1].in * axes[2].in * channels; }
  int64_t out_rows() const { return axes[0].out * axes[1].out; }
  int64_t out_row_size() const { return axes[2].out * channels; }

 private:
  std::vector<int64_t> window_offsets() const;
};

/// The loops for the best instruction set of the machine.
template <class T>
struct PoolLoops {
  /// Computes output rows [first, last) of one image; argmax_indices may be null.
  void (*rows)(const PoolPlan& plan, const T* x, T* y, uint8_t* argmax_indices, int64_t first,
               int64_t last);
  /// Overwrites channels [first, last) of dx of one image. Max pooling reads either x or
  /// argmax_indices, average pooling neither.
  void (*gradient)(const PoolPlan& plan, const T* x, const uint8_t* argmax_indices, const T* dy,
                   T* dx, int64_t first, int64_t last);
};

template <class T>
PoolLoops<T> pool_loops();
template <>
PoolLoops<float> pool_loops<float>();
template <>
PoolLoops<double> pool_loops<double>();
template <>
PoolLoops<BFloat16> pool_loops<BFloat16>();

}  // namespace crescent::cpu
