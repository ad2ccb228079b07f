// Softmax of one contiguous line, or of many interleaved lines, in float32 and float64. For
// bfloat16 there is only `line`.
#pragma once
#include <cstdint>

#include "crescent/tensor/tensor.h"

namespace crescent::cpu {

/// The number log(sum(exp(x))), as the sum maximum + remainder. minus() subtracts x from `maximum`
/// first, which keeps all digits of results close to 0.
struct LogSum {
  double maximum, remainder;
  double minus(double x) const { return (maximum - x) + remainder; }
};

struct SoftmaxLoops {
  /// Computes y = softmax or log softmax of x[0..n); x and y may be the same array.
  void (*line)(const void* x, void* y, int64_t n, bool is_log) = nullptr;
  /// Does the same as `line` for `width` <= kSoftmaxTileLines lines of length n; elements of a line
  /// are `stride` apart, and the lines begin at adjacent elements.
  void (*lines)(const void* x, void* y, int64_t n, int64_t stride, int64_t width,
                bool is_log) = nullptr;
  LogSum (*log_sum)(const void* x, int64_t n) = nullptr;
  /// Computes y = softmax(x) * scale.
  void (*scaled_softmax)(const void* x, void* y, int64_t n, double scale) = nullptr;
};
inline constexpr int64_t kSoftmaxTileLines = 64;
SoftmaxLoops softmax_loops(DType dtype);

}  // namespace crescent::cpu
