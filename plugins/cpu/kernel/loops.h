// Loops over arrays: one function per operation, kind and dtype; the instruction set is chosen once
// at run time. The arrays that a loop gets have the same length, and any two are either identical
// or do not overlap. Half-width floats are computed as float32; for operations whose speed is
// limited by memory there are also loops that read and write bfloat16 directly.
#pragma once
#include <cstddef>
#include <span>

#include "crescent/device/lowered_ops.h"

namespace crescent::cpu {

using UnaryLoop = void (*)(const void* x, void* y, size_t n);
using BinaryLoop = void (*)(const void* a, const void* b, void* y, size_t n);
using SelectLoop = void (*)(const void* condition, const void* a, const void* b, void* y, size_t n);

/// The loops of a binary operation on two arrays, and on an array and a scalar, which is float32 if
/// the array is bfloat16. If the loop for a scalar is null, callers broadcast the scalar to an
/// array.
struct BinaryLoops {
  BinaryLoop arrays = nullptr, first_scalar = nullptr, second_scalar = nullptr;
};

// The loop of an operation; null if the operation is not defined for the dtype.
UnaryLoop unary_loop(UnaryKind kind, DType dtype);
BinaryLoops binary_loops(BinaryKind kind, DType dtype);
/// The loop of an operation for a rare dtype, compiled for the baseline instruction set only.
UnaryLoop rare_unary_loop(UnaryKind kind, DType dtype);
BinaryLoops rare_binary_loops(BinaryKind kind, DType dtype);
UnaryLoop rare_cast_loop(DType from, DType to);
/// The loop of select for elements of `bytes` bytes.
SelectLoop select_loop(size_t bytes);
/// The loop that casts one numeric dtype to another. Constants can also be cast to strings and
/// complex numbers.
UnaryLoop cast_loop(DType from, DType to);
/// The loop that sets all elements of y to x[0].
UnaryLoop fill_loop(size_t bytes);

/// Copies with non-temporal stores, which neither read the destination nor evict cached data.
void stream(const float* from, float* to, size_t count);

/// A sequence of steps on float32 that is compiled as one loop. Registers are numbered as in the op
/// Fused: first the inputs, then the results of the steps.
struct Chain {
  std::span<const FusedStep> steps;
  std::span<const bool> is_scalar;  ///< for each input, whether it is a scalar
  std::span<const int> outputs;     ///< registers that are written to memory
  void (*loop)(const void* const* inputs, void* const* outputs, size_t n);
  /// For each input, whether it is an array as long as the outputs.
  std::span<const bool> is_stream;
  /// The loop over the rows of a matrix. The inputs that are not streams have the length of a row
  /// and are the same for each row, so that their values stay in registers. Null if the chain has
  /// no such loop.
  void (*row_loop)(const void* const* inputs, void* const* outputs, int64_t rows, int64_t columns);
  /// Returns the sum of n elements of the output, which are not written to memory, with the same
  /// bits as the sum of a row in reductions. Null if the chain has no such loop.
  double (*sum)(const void* const* inputs, int64_t n);
};
std::span<const Chain> chains();

/// The dtype in which values of `dtype` are computed and summed: float32 for half-width floats,
/// `dtype` itself for others.
inline DType compute_dtype_of(DType dtype) {
  return dtype == DType::bfloat16 || dtype == DType::float16 ? DType::float32 : dtype;
}

/// The approximate time per element of `kind`, in units of an addition, by which callers decide
/// whether to use threads.
int cost_of(UnaryKind kind);
int cost_of(BinaryKind kind);

}  // namespace crescent::cpu
