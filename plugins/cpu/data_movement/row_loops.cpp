#include "data_movement/row_loops.h"

#include <algorithm>
#include <cstring>

namespace crescent::cpu {
namespace {

/// Copies rows that are at least one and less than two Words long, as two Words that may overlap.
template <class Word>
void copy_pairs(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
                int64_t bytes, int64_t rows) {
  const int64_t second_offset = bytes - static_cast<int64_t>(sizeof(Word));
  for (int64_t r = 0; r < rows; ++r, from += from_step, to += to_step) {
    Word a, b;
    std::memcpy(&a, from, sizeof a), std::memcpy(&b, from + second_offset, sizeof b);
    std::memcpy(to, &a, sizeof a), std::memcpy(to + second_offset, &b, sizeof b);
  }
}

struct Vector {
  uint64_t words[2];
};

/// Copies rows that are at least one vector long.
void copy_vectors(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
                  int64_t bytes, int64_t rows) {
  constexpr auto kVectorBytes = static_cast<int64_t>(sizeof(Vector));
  const auto copy = [&](int64_t offset) {
    Vector v;
    std::memcpy(&v, from + offset, sizeof v), std::memcpy(to + offset, &v, sizeof v);
  };
  for (int64_t r = 0; r < rows; ++r, from += from_step, to += to_step) {
    for (int64_t offset = 0; offset < bytes - kVectorBytes; offset += kVectorBytes) copy(offset);
    copy(bytes - kVectorBytes);
  }
}

template <class T, size_t array_count>
void interleave(const std::byte* const* from, int64_t count, std::byte* to) {
  const T* in[array_count];
  for (size_t k = 0; k < array_count; ++k) in[k] = reinterpret_cast<const T*>(from[k]);
  T* __restrict out = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i)
    for (size_t k = 0; k < array_count; ++k)
      out[i * static_cast<int64_t>(array_count) + k] = in[k][i];
}

template <size_t array_count>
InterleaveLoop interleave_of_size(int64_t bytes) {
  switch (bytes) {
    case 1:
      return interleave<uint8_t, array_count>;
    case 2:
      return interleave<uint16_t, array_count>;
    case 4:
      return interleave<uint32_t, array_count>;
    case 8:
      return interleave<uint64_t, array_count>;
    default:
      return nullptr;
  }
}

}  // namespace

void copy_rows(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
               int64_t bytes, int64_t rows) {
  constexpr int64_t kMaxShortBytes = 256;
  if (bytes > kMaxShortBytes) {
    for (int64_t r = 0; r < rows; ++r) std::memcpy(to + r * to_step, from + r * from_step, bytes);
  } else if (bytes >= 16) {
    copy_vectors(from, from_step, to, to_step, bytes, rows);
  } else if (bytes >= 8) {
    copy_pairs<uint64_t>(from, from_step, to, to_step, bytes, rows);
  } else if (bytes >= 4) {
    copy_pairs<uint32_t>(from, from_step, to, to_step, bytes, rows);
  } else if (bytes >= 2) {
    copy_pairs<uint16_t>(from, from_step, to, to_step, bytes, rows);
  } else if (bytes == 1) {
    for (int64_t r = 0; r < rows; ++r) to[r * to_step] = from[r * from_step];
  }
}

void repeat_row(const std::byte* row, int64_t bytes, int64_t repetitions, std::byte* to) {
  // The result is filled by copies of its own beginning, which has at most this number of bytes, so
  // that it stays in the first-level cache.
  constexpr int64_t kMaxCachedBytes = 4096;
  if (bytes >= kMaxCachedBytes || repetitions < 2)
    return copy_rows(row, 0, to, bytes, bytes, repetitions);
  const int64_t total = bytes * repetitions, max_bytes = kMaxCachedBytes / bytes * bytes;
  std::memcpy(to, row, bytes);
  for (int64_t written_bytes = bytes; written_bytes < total;) {
    const int64_t count = std::min({written_bytes, max_bytes, total - written_bytes});
    std::memcpy(to + written_bytes, to, count);
    written_bytes += count;
  }
}

InterleaveLoop interleave_loop(size_t array_count, int64_t bytes) {
  switch (array_count) {
    case 2:
      return interleave_of_size<2>(bytes);
    case 3:
      return interleave_of_size<3>(bytes);
    case 4:
      return interleave_of_size<4>(bytes);
    default:
      return nullptr;
  }
}

}  // namespace crescent::cpu
