// Loops over arrays: one function per operation, kind and dtype, with the instruction set chosen
// once at run time. Arrays of one loop have the same length and either are identical or do not
// overlap. Registers hold half-width floats as float32; operations that are bound by memory also
// have loops on bfloat16 as it is stored.
#pragma once
#include <cstddef>
#include <span>

#include "crescent/device/lowered_ops.h"

namespace crescent::cpu {

using UnaryLoop = void (*)(const void* x, void* y, size_t n);
using BinaryLoop = void (*)(const void* a, const void* b, void* y, size_t n);
using SelectLoop = void (*)(const void* condition, const void* a, const void* b, void* y, size_t n);

/// The loops of a binary operation on two arrays, and on an array and a scalar, which is float32 if
/// the array is bfloat16. Where the loop for a scalar is null, callers broadcast the scalar to an
/// array.
struct BinaryLoops {
  BinaryLoop arrays = nullptr, first_scalar = nullptr, second_scalar = nullptr;
};

// Null if the operation is not defined for the dtype.
UnaryLoop unary_loop(UnaryKind kind, DType dtype);
BinaryLoops binary_loops(BinaryKind kind, DType dtype);
/// The same for rare dtypes, compiled for the baseline instruction set only.
UnaryLoop rare_unary_loop(UnaryKind kind, DType dtype);
BinaryLoops rare_binary_loops(BinaryKind kind, DType dtype);
UnaryLoop rare_cast_loop(DType from, DType to);
/// The loop for elements of `bytes` bytes.
SelectLoop select_loop(size_t bytes);
/// The loop that casts between any two numeric dtypes. Constants can also be cast to strings and
/// complex numbers.
UnaryLoop cast_loop(DType from, DType to);
/// y[i] = x[0].
UnaryLoop fill_loop(size_t bytes);

/// Copies with non-temporal stores, which neither read the destination nor evict cached data.
void stream(const float* from, float* to, size_t count);

/// A sequence of steps on float32 compiled as one loop. Registers are numbered as in Fused: inputs,
/// then results.
struct Chain {
  std::span<const FusedStep> steps;
  std::span<const bool> scalar;  ///< per input: whether it is a scalar
  std::span<const int> outputs;  ///< registers that are written to memory
  void (*loop)(const void* const* inputs, void* const* outputs, size_t n);
  std::span<const bool> streams;  ///< per input: whether it is an array as long as the outputs
  /// The loop over the rows of a matrix. Every row reads the inputs that are not streams from their
  /// beginning, so these stay in registers. Null where the chain has no such loop.
  void (*rows)(const void* const* inputs, void* const* outputs, int64_t rows, int64_t columns);
};
std::span<const Chain> chains();

/// The dtype that registers and accumulators use: float32 for half-width floats, else itself.
inline DType computed_as(DType dtype) {
  return dtype == DType::bfloat16 || dtype == DType::float16 ? DType::float32 : dtype;
}

/// The approximate time per element of `kind`, in units of an addition, by which callers decide
/// whether to use threads.
int cost_of(UnaryKind kind);
int cost_of(BinaryKind kind);

}  // namespace crescent::cpu
