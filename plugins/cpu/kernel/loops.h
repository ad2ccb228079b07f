// Loops over arrays: one function an operation, kind and dtype, chosen once for the machine. Arrays
// of one loop have the same length and either are the same or do not overlap. Registers hold
// half-width floats as float32; what is bound by memory has loops on bfloat16 as it lies there,
// too.
#pragma once
#include <cstddef>
#include <span>

#include "crescent/device/lowered_ops.h"

namespace crescent::cpu {

using UnaryLoop = void (*)(const void* x, void* y, size_t n);
using BinaryLoop = void (*)(const void* a, const void* b, void* y, size_t n);
using SelectLoop = void (*)(const void* condition, const void* a, const void* b, void* y, size_t n);

/// A binary operation on two arrays, and with one side a single number, which is float32 beside
/// bfloat16. Where there is no loop for a single number, it is repeated in an array.
struct BinaryLoops {
  BinaryLoop arrays = nullptr, first_scalar = nullptr, second_scalar = nullptr;
};

// Null where the operation has no meaning for the dtype.
UnaryLoop unary_loop(UnaryKind kind, DType dtype);
BinaryLoops binary_loops(BinaryKind kind, DType dtype);
/// The same for dtypes that are seldom met, compiled for the plain machine only.
UnaryLoop rare_unary_loop(UnaryKind kind, DType dtype);
BinaryLoops rare_binary_loops(BinaryKind kind, DType dtype);
UnaryLoop rare_cast_loop(DType from, DType to);
/// By the size of an element.
SelectLoop select_loop(size_t bytes);
/// Among all numbers, half-width ones included; constants become strings and complex numbers, too.
UnaryLoop cast_loop(DType from, DType to);
/// y[i] = x[0].
UnaryLoop fill_loop(size_t bytes);

/// Copies to memory past the caches: what was there is not read, and what is in a cache stays.
void stream(const float* from, float* to, size_t count);

/// Steps on float32 that are compiled as one loop. Registers are those of Fused: inputs, then
/// results.
struct Chain {
  std::span<const FusedStep> steps;
  std::span<const bool> scalar;  ///< per input: a single number
  std::span<const int> outputs;  ///< registers
  void (*loop)(const void* const* inputs, void* const* outputs, size_t n);
  std::span<const bool> streams;  ///< per input: an array as long as the outputs
  /// The same over rows, for each of which the inputs that are no streams are read again: they stay
  /// in registers. Null where there are none.
  void (*rows)(const void* const* inputs, void* const* outputs, int64_t rows, int64_t columns);
};
std::span<const Chain> chains();

/// The dtype that registers and accumulators use: float32 for half-width floats, else itself.
inline DType computed_as(DType dtype) {
  return dtype == DType::bfloat16 || dtype == DType::float16 ? DType::float32 : dtype;
}

/// Rough time of an element of `kind`, in units of an addition: decides whether threads pay.
int cost_of(UnaryKind kind);
int cost_of(BinaryKind kind);

}  // namespace crescent::cpu
