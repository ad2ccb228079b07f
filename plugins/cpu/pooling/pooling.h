// Pooling over windows of one image, channels last.
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

    /// The part of the window of output `i` that is inside: [first, last), empty in nothing but
    /// padding.
    int64_t first(int64_t i) const { return std::max<int64_t>(i * stride - before, 0); }
    int64_t last(int64_t i) const {
      return std::max(first(i), std::min(i * stride - before + window, in));
    }
  };

  PoolPlan(const Request& request, bool backward);

  bool max, argmax_indices;
  std::array<Axis, 3> axes;  ///< absent axes stand in front with size 1
  std::vector<int64_t>
      whole;  ///< where the pixels under a window that is inside begin, from its first one
  int64_t batch, channels;

  int64_t in_size() const { return axes[0].in * axes[1].in * axes[2].in * channels; }
  int64_t out_rows() const { return axes[0].out * axes[1].out; }
  int64_t out_row_size() const { return axes[2].out * channels; }

 private:
  std::vector<int64_t> window_offsets() const;
};

/// The loops for the machine at hand.
template <class T>
struct PoolLoops {
  /// Output rows [first, last) of one image; argmax_indices may be null.
  void (*rows)(const PoolPlan& plan, const T* x, T* y, uint8_t* argmax_indices, int64_t first,
               int64_t last);
  /// Channels [first, last) of one image; dx is overwritten there. For max one of x and
  /// argmax_indices is read, else none.
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
