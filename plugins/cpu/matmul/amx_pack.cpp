// Packs operands into strips of tiles.
#include "matmul/amx.h"

#ifdef __x86_64__
#include <bit>
#include <cmath>
#include <type_traits>

#include "matmul/amx-inl.h"
#endif

namespace crescent::cpu::amx {

#ifdef __x86_64__

namespace {

/// A vector of packed values, or three vectors for the parts of split values.
template <Form form>
struct PackedVectors {
  __m512i part[parts(form)];
};

/// Rounds to the upper 16 bits. The carry turns a NaN whose upper bits are 0x7fff or 0xffff and
/// whose bit 15 is set into a zero; split() still keeps it NaN in its last part, which is not
/// rounded.
CRESCENT_INLINE __m512 upper_half(__m512 x) {
  const __m512i rounded = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
  return _mm512_castsi512_ps(
      _mm512_and_si512(rounded, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}

/// Splits the values of two vectors into three parts, in which the values of `low` and `high` are
/// interleaved by `order`: the values rounded to 16 bits, the remainder rounded to 16 bits, and the
/// remainder of that, which is exact.
CRESCENT_INLINE PackedVectors<Form::split> split(__m512 low, __m512 high, __m512i order) {
  PackedVectors<Form::split> result;
  for (int p = 0; p < 3; ++p) {
    const __m512 lower = p < 2 ? upper_half(low) : low, upper = p < 2 ? upper_half(high) : high;
    result.part[p] =
        _mm512_permutex2var_epi16(_mm512_castps_si512(lower), order, _mm512_castps_si512(upper));
    low = _mm512_sub_ps(low, lower), high = _mm512_sub_ps(high, upper);
  }
  return result;
}

/// The indices of every second of 64 values (the upper halves of 32-bit values), in order.
alignas(64) constexpr uint16_t kUpper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                             23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                             45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
/// The indices of every second value of two vectors, alternating between the vectors.
alignas(64) constexpr uint16_t kUpperInTurn[32] = {1,  33, 3,  35, 5,  37, 7,  39, 9,  41, 11,
                                                   43, 13, 45, 15, 47, 17, 49, 19, 51, 21, 53,
                                                   23, 55, 25, 57, 27, 59, 29, 61, 31, 63};
alignas(64) constexpr uint16_t kInterleaved[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                   21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                   11, 27, 12, 28, 13, 29, 14, 30, 15, 31};

/// Loads `count` <= 32 values and sets the others to zero.
template <Form form>
CRESCENT_INLINE PackedVectors<form> load32(const uint16_t* from, int64_t count) {
  return {{_mm512_maskz_loadu_epi16(first_lanes(count), from)}};
}
template <Form form>
CRESCENT_INLINE PackedVectors<form> load32(const float* from, int64_t count) {
  const Mask mask = first_lanes(count);
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), from + 16);
  if constexpr (form == Form::split)
    return split(low, high, _mm512_load_si512(kUpper));
  else
    return {{reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low))}};
}
CRESCENT_INLINE __m256i load16(const uint16_t* from, int64_t count) {
  return _mm256_maskz_loadu_epi16(static_cast<__mmask16>(first_lanes(count)), from);
}

/// The rows of the tiles of one step. A row belongs to a line in the left operand, and to a pair of
/// values along k in the right operand.
template <Form form>
struct alignas(64) Rows {
  __m512i tile[parts(form)][16];
};

template <Form form>
CRESCENT_INLINE void store_row(const PackedVectors<form>& vectors, int64_t row, __m512i* tiles) {
  for (int p = 0; p < parts(form); ++p) tiles[16 * p + row] = vectors.part[p];
}
template <Form form>
CRESCENT_INLINE void store_zero_row(int64_t row, __m512i* tiles) {
  for (int p = 0; p < parts(form); ++p) tiles[16 * p + row] = _mm512_setzero_si512();
}

/// Reads tiles in which row i contains the pairs of line i.
template <Form form, class T>
CRESCENT_INLINE void read_lines(const T* from, int64_t ld, int64_t lines, int64_t depth,
                                __m512i* tiles) {
  for (int64_t i = 0; i < lines; ++i, from += ld)
    store_row<form>(load32<form>(from, depth), i, tiles);
  for (int64_t i = lines; i < 16; ++i) store_zero_row<form>(i, tiles);
}

/// 16 pairs of a value from `low` and a value from `high`, or zero if `high` is null.
template <Form form>
CRESCENT_INLINE PackedVectors<form> pairs(const uint16_t* low, const uint16_t* high,
                                          int64_t count) {
  const __m256i upper = high ? load16(high, count) : _mm256_setzero_si256();
  const __m512i joined = _mm512_inserti64x4(_mm512_castsi256_si512(load16(low, count)), upper, 1);
  return {{_mm512_permutexvar_epi16(_mm512_load_si512(kInterleaved), joined)}};
}
template <Form form>
CRESCENT_INLINE PackedVectors<form> pairs(const float* low, const float* high, int64_t count) {
  const auto mask = static_cast<__mmask16>(first_lanes(count));
  const __m512 lower = _mm512_maskz_loadu_ps(mask, low),
               upper = high ? _mm512_maskz_loadu_ps(mask, high) : _mm512_setzero_ps();
  if constexpr (form == Form::split)
    return split(lower, upper, _mm512_load_si512(kUpperInTurn));
  else
    return {
        {_mm512_permutexvar_epi16(_mm512_load_si512(kInterleaved),
                                  reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(upper, lower)))}};
}

/// Reads tiles in which row p contains pair p of every line.
template <Form form, class T>
CRESCENT_INLINE void read_pairs(const T* from, int64_t ld, int64_t lines, int64_t depth,
                                __m512i* tiles) {
  const int64_t full_pairs = depth / 2;
  for (int64_t p = 0; p < full_pairs; ++p, from += 2 * ld)
    store_row<form>(pairs<form>(from, from + ld, lines), p, tiles);
  for (int64_t p = full_pairs; p < 16; ++p) {
    if (2 * p < depth)
      store_row<form>(pairs<form>(from, static_cast<const T*>(nullptr), lines), p, tiles);
    else
      store_zero_row<form>(p, tiles);
  }
}

/// Transposes 16 x 16 pairs, from a row per line to a row per pair or the other way.
CRESCENT_INLINE void transpose(const __m512i* rows, __m512i* to) {
  __m512i r[16], t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = rows[i];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]), t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]), r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]),
          r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 8; ++j) {
    const int i = j + j / 4 * 4;
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88),
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 8; ++j) {
    to[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88),
    to[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xdd);
  }
}

template <bool in_rows, Form form, class T>
CRESCENT_INLINE void read_tiles(const T* from, int64_t ld, int64_t lines, int64_t depth,
                                __m512i* tiles) {
  in_rows ? read_lines<form>(from, ld, lines, depth, tiles)
          : read_pairs<form>(from, ld, lines, depth, tiles);
}

/// Packs strips of tiles whose rows are lines (left operand) or pairs (right operand), reading
/// memory front to back.
template <bool rows_are_lines, bool in_rows, Form form, class T>
CRESCENT_AVX512 void pack(const T* from, int64_t ld, int64_t lines, int64_t depth, uint16_t* to,
                          int64_t stride) {
  auto pack_tile = [&](int64_t line, int64_t k) CRESCENT_AVX512 {
    const int64_t count = std::min(lines - line, kLines), k_count = std::min(depth - k, kDepth);
    const T* corner = from + (in_rows ? line * ld + k : k * ld + line);
    auto* tiles =
        reinterpret_cast<__m512i*>(to + line / kLines * stride + k * kLines * parts(form));
    Rows<form> untransposed;
    __m512i* rows = in_rows == rows_are_lines ? tiles : untransposed.tile[0];
    if (count == kLines && k_count == kDepth)
      // With constant sizes the compiler needs no masks.
      read_tiles<in_rows, form>(corner, ld, kLines, kDepth, rows);
    else
      read_tiles<in_rows, form>(corner, ld, count, k_count, rows);
    if constexpr (in_rows != rows_are_lines) {
      for (int p = 0; p < parts(form); ++p) transpose(untransposed.tile[p], tiles + 16 * p);
    }
    // Prefetches the next step, which has more rows than the hardware prefetcher can follow.
    if constexpr (!in_rows) {
      for (int64_t i = 0; i < kDepth; ++i) __builtin_prefetch(corner + (kDepth + i) * ld);
    }
  };
  for (int64_t line = 0; in_rows && line < lines; line += kLines) {
    for (int64_t k = 0; k < depth; k += kDepth) pack_tile(line, k);
  }
  for (int64_t k = 0; !in_rows && k < depth; k += kDepth) {
    for (int64_t line = 0; line < lines; line += kLines) pack_tile(line, k);
  }
}

template <bool rows_are_lines, Form form, class T>
void pack_as(const T* from, int64_t ld, LineOrder order, int64_t lines, int64_t depth, uint16_t* to,
             int64_t stride) {
  order == LineOrder::lines_in_rows
      ? pack<rows_are_lines, true, form>(from, ld, lines, depth, to, stride)
      : pack<rows_are_lines, false, form>(from, ld, lines, depth, to, stride);
}
template <bool rows_are_lines, class T>
void pack_as(const T* from, int64_t ld, LineOrder order, int64_t lines, int64_t depth, uint16_t* to,
             int64_t stride, Form form) {
  if constexpr (std::is_same_v<T, float>) {
    if (form == Form::split)
      return pack_as<rows_are_lines, Form::split>(from, ld, order, lines, depth, to, stride);
  }
  pack_as<rows_are_lines, Form::rounded>(from, ld, order, lines, depth, to, stride);
}

float value_of(uint16_t upper_half) {
  return std::bit_cast<float>(static_cast<uint32_t>(upper_half) << 16);
}

}  // namespace

template <class T>
void pack_left(const T* from, int64_t ld, LineOrder order, int64_t lines, int64_t depth,
               uint16_t* to, int64_t stride, Form form) {
  pack_as<true>(from, ld, order, lines, depth, to, stride, form);
}
template <class T>
void pack_right(const T* from, int64_t ld, LineOrder order, int64_t lines, int64_t depth,
                uint16_t* to, int64_t stride, Form form) {
  pack_as<false>(from, ld, order, lines, depth, to, stride, form);
}
void join_right(const uint16_t* strip, int64_t lines, int64_t depth, float* to, int64_t ld) {
  for (int64_t k = 0; k < depth; ++k, to += ld) {
    const uint16_t* tiles = strip + k / kDepth * 3 * kTileValues + k % kDepth / 2 * kDepth + k % 2;
    for (int64_t i = 0; i < lines; ++i) {
      const float first = value_of(tiles[2 * i]),
                  lower_parts = value_of(tiles[kTileValues + 2 * i]) +
                                value_of(tiles[2 * kTileValues + 2 * i]);
      to[i] = std::isfinite(first) ? first + lower_parts : first;
    }
  }
}

#else

template <class T>
void pack_left(const T*, int64_t, LineOrder, int64_t, int64_t, uint16_t*, int64_t, Form) {}
template <class T>
void pack_right(const T*, int64_t, LineOrder, int64_t, int64_t, uint16_t*, int64_t, Form) {}
void join_right(const uint16_t*, int64_t, int64_t, float*, int64_t) {}

#endif

template void pack_left(const uint16_t*, int64_t, LineOrder, int64_t, int64_t, uint16_t*, int64_t,
                        Form);
template void pack_left(const float*, int64_t, LineOrder, int64_t, int64_t, uint16_t*, int64_t,
                        Form);
template void pack_right(const uint16_t*, int64_t, LineOrder, int64_t, int64_t, uint16_t*, int64_t,
                         Form);
template void pack_right(const float*, int64_t, LineOrder, int64_t, int64_t, uint16_t*, int64_t,
                         Form);

}  // namespace crescent::cpu::amx
