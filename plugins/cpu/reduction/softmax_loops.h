// Softmax of one contiguous line, or of many interleaved lines, in float32 and float64. bfloat16
// has only `line`.
#pragma once
#include <cstdint>

#include "crescent/tensor/tensor.h"

namespace crescent::cpu {

/// log(sum(exp(x))) = top + rest. minus() subtracts x from top first, which keeps all digits of
/// results close to 0.
struct LogSum {
  double top, rest;
  double minus(double x) const { return (top - x) + rest; }
};

struct SoftmaxLoops {
  /// y = softmax or log softmax of x[0..n); x and y may be equal.
  void (*line)(const void* x, void* y, int64_t n, bool log) = nullptr;
  /// The same for `width` <= kSoftmaxTile lines of length n; the elements of a line are `stride`
  /// apart.
  void (*lines)(const void* x, void* y, int64_t n, int64_t stride, int64_t width,
                bool log) = nullptr;
  LogSum (*log_sum)(const void* x, int64_t n) = nullptr;
  /// y = softmax(x) * scale.
  void (*scaled)(const void* x, void* y, int64_t n, double scale) = nullptr;
};
inline constexpr int64_t kSoftmaxTile = 64;
SoftmaxLoops softmax_loops(DType dtype);

}  // namespace crescent::cpu
