// Copies of short rows that lie apart: loops where a call for each row would cost more than the
// row.
#pragma once
#include <cstddef>
#include <cstdint>

namespace crescent::cpu {

/// Rows of `bytes`, so many bytes apart where they come from and where they go.
void copy_rows(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
               int64_t bytes, int64_t rows);

/// One row so many times, one after the other.
void repeat_row(const std::byte* row, int64_t bytes, int64_t times, std::byte* to);

/// Each of `count` elements, `step` elements apart, n times.
using RepeatLoop = void (*)(const void* from, int64_t step, int64_t count, int64_t n, void* to);
/// For elements of 1, 2, 4 or 8 bytes.
RepeatLoop repeat_loop(size_t bytes);

inline constexpr size_t kMostInterleaved = 4;
/// An element of each array in turn.
using InterleaveLoop = void (*)(const std::byte* const* from, int64_t count, std::byte* to);
/// For so many arrays with elements of so many bytes; null where there is none.
InterleaveLoop interleave_loop(size_t arrays, int64_t bytes);

}  // namespace crescent::cpu
