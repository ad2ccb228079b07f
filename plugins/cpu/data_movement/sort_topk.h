// Kernels of ops that compare elements along an axis (argmax, sort, top-k), and of cumulative sums.
#pragma once
#include "kernel/kernel.h"

namespace crescent::cpu {

std::unique_ptr<Kernel> make_arg_reduce(const Request& request);
std::unique_ptr<Kernel> make_top_k(const Request& request);
std::unique_ptr<Kernel> make_order_statistics(const Request& request);
std::unique_ptr<Kernel> make_cumulative(const Request& request);

/// Loops that find the index of the largest or of the smallest value, the first among equals; null
/// for dtypes without loops.
struct ExtremeLoops {
  /// Returns the index in a row of n >= 1 elements.
  int64_t (*find_in_row)(const void* x, int64_t n) = nullptr;
  /// For each j < width (at most kExtremeColumns): sets to[j] to the row index i of the extreme
  /// element among x[i * stride + j], i < rows.
  void (*find_in_columns)(const void* x, int64_t rows, int64_t width, int64_t stride,
                          int64_t* to) = nullptr;
};
inline constexpr int64_t kExtremeColumns = 256;
/// `is_max`: whether the loops find the largest value.
ExtremeLoops extreme_loops(bool is_max, DType dtype);

/// A dense array seen as (outer, length, inner), where `length` is the size of the given axis.
struct AxisView {
  AxisView(const Shape& shape, int axis) {
    axis = shape.axis(axis);
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    length = shape[axis];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
  int64_t outer = 1, length = 1, inner = 1;
};

/// Calls f.template operator()<T>() with the C++ type T of `dtype`; returns null for half-width
/// floats.
template <class F>
std::unique_ptr<Kernel> with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float32:
      return f.template operator()<float>();
    case DType::float64:
      return f.template operator()<double>();
    case DType::int32:
      return f.template operator()<int32_t>();
    case DType::int64:
      return f.template operator()<int64_t>();
    case DType::uint8:
    case DType::boolean:
      return f.template operator()<uint8_t>();
    default:
      return nullptr;
  }
}

}  // namespace crescent::cpu
