// Loops that copy short rows with gaps between them, for which a call per row would cost more than
// the copy.
#pragma once
#include <cstddef>
#include <cstdint>

namespace crescent::cpu {

/// Copies rows of `bytes` bytes. Successive rows begin from_step bytes apart in the source and
/// to_step bytes apart in the target.
void copy_rows(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
               int64_t bytes, int64_t rows);

/// Writes a row `times` times, contiguously.
void repeat_row(const std::byte* row, int64_t bytes, int64_t times, std::byte* to);

/// Repeats each of `count` elements, which are `step` elements apart, n times.
using RepeatLoop = void (*)(const void* from, int64_t step, int64_t count, int64_t n, void* to);
/// The loop for elements of 1, 2, 4 or 8 bytes.
RepeatLoop repeat_loop(size_t bytes);

/// Copies a line of n elements in reverse; `last_element` is the address of its last element.
using ReverseLoop = void (*)(const void* last_element, int64_t n, void* to);
/// The loop for elements of 1, 2, 4 or 8 bytes.
ReverseLoop reverse_loop(size_t bytes);

inline constexpr size_t kMaxInterleavedArrays = 4;
/// Interleaves arrays: writes one element of each array in turn.
using InterleaveLoop = void (*)(const std::byte* const* from, int64_t count, std::byte* to);
/// The loop for `array_count` arrays with elements of `bytes` bytes; null if there is none.
InterleaveLoop interleave_loop(size_t array_count, int64_t bytes);

}  // namespace crescent::cpu
