// Pooling over the windows of images, with channels last.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "kernel/half.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

struct PoolPlan {
  struct Axis {
    int64_t in = 1, out = 1, window = 1, stride = 1, pad_before = 0;

    /// The inputs of window `i` that are inside of the image are [first(i), last(i)); this range is
    /// empty if the window consists of padding only.
    int64_t first(int64_t i) const { return std::max<int64_t>(i * stride - pad_before, 0); }
    int64_t last(int64_t i) const {
      return std::max(first(i), std::min(i * stride - pad_before + window, in));
    }
  };

  PoolPlan(const Request& request, bool is_backward);

  /// Whether the maximum of each window is computed, not the average; whether there is also an
  /// array with the index of each maximum in its window.
  bool is_max, has_argmax_indices;
  /// The spatial axes, with leading axes of size 1 if there are fewer than three.
  std::array<Axis, 3> axes;
  /// For a window that is entirely inside of the image, the offsets of its pixels from the first
  /// pixel of the window, in pixels.
  std::vector<int64_t> inner_window_offsets;
  int64_t batch, channels;

  int64_t in_size() const { return axes[0].in * axes[1].in * axes[2].in * channels; }
  int64_t out_rows() const { return axes[0].out * axes[1].out; }
  int64_t out_row_size() const { return axes[2].out * channels; }

 private:
  std::vector<int64_t> window_offsets() const;
};

/// The loops, compiled for the best instruction set of the machine.
template <class T>
struct PoolLoops {
  /// Computes output rows [first, last) of one image. For max pooling argmax_indices receive the
  /// index of each maximum in its window; they may be null.
  void (*pool_rows)(const PoolPlan& plan, const T* x, T* y, uint8_t* argmax_indices, int64_t first,
                    int64_t last);
  /// Computes channels [first, last) of dx of one image. Max pooling reads either x or
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
