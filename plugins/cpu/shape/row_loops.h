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

/// Each of `count` elements, `step` apart, n times. By the type of an element.
template <class T>
void repeat_each(const T* from, int64_t step, int64_t count, int64_t n, T* to);
template <>
void repeat_each<uint8_t>(const uint8_t* from, int64_t step, int64_t count, int64_t n, uint8_t* to);
template <>
void repeat_each<uint16_t>(const uint16_t* from, int64_t step, int64_t count, int64_t n,
                           uint16_t* to);
template <>
void repeat_each<uint32_t>(const uint32_t* from, int64_t step, int64_t count, int64_t n,
                           uint32_t* to);
template <>
void repeat_each<uint64_t>(const uint64_t* from, int64_t step, int64_t count, int64_t n,
                           uint64_t* to);

inline constexpr size_t kMostInterleaved = 4;
/// An element of each array in turn.
using InterleaveLoop = void (*)(const std::byte* const* from, int64_t count, std::byte* to);
/// For so many arrays with elements of so many bytes; null where there is none.
InterleaveLoop interleave_loop(size_t arrays, int64_t bytes);

}  // namespace crescent::cpu
