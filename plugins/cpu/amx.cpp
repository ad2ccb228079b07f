#include "amx.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <hwy/targets.h>
#endif

namespace crescent::cpu::amx {

#ifdef __x86_64__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"     // GCC 12 finds both in its own immintrin.h
#pragma GCC diagnostic ignored "-Wuninitialized"
#define CRESCENT_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define CRESCENT_INLINE CRESCENT_AVX512 inline __attribute__((always_inline))
#define CRESCENT_AMX __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")))
#define CRESCENT_AMX_INLINE CRESCENT_AMX inline __attribute__((always_inline))
#define CRESCENT_AMX_LAMBDA CRESCENT_AMX __attribute__((always_inline))

namespace {

bool processor_has_tiles() {
  unsigned a, b, c, d, a1;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  const bool tiles = (d >> 22 & 1) && (d >> 24 & 1), bw = b >> 30 & 1, vl = b >> 31 & 1, dq = b >> 17 & 1;
  return tiles && bw && vl && dq && __get_cpuid_count(7, 1, &a1, &b, &c, &d) && (a1 >> 5 & 1);
}

/// Linux gives the large registers to those who ask.
bool system_permits() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

using Mask = __mmask32;
inline Mask first(int64_t count) { return static_cast<Mask>(count >= 32 ? ~0u : (1u << std::max<int64_t>(count, 0)) - 1); }

/// `count` <= 32 values as bfloat16, zeros above.
CRESCENT_INLINE __m512i load32(const uint16_t* from, int64_t count) { return _mm512_maskz_loadu_epi16(first(count), from); }
CRESCENT_INLINE __m512i load32(const float* from, int64_t count) {
  const Mask mask = first(count);
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), from + 16);
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}
CRESCENT_INLINE __m256i load16(const uint16_t* from, int64_t count) {
  return _mm256_maskz_loadu_epi16(static_cast<__mmask16>(first(count)), from);
}

/// Pairs along k, as the rows of a tile.
struct alignas(64) Rows {
  __m512i row[16];
};

/// row[i] = the pairs of line i.
template <class T>
CRESCENT_INLINE void read_lines(const T* from, int64_t ld, int64_t lines, int64_t depth, __m512i* rows) {
  for (int64_t i = 0; i < lines; ++i, from += ld) rows[i] = load32(from, depth);
  for (int64_t i = lines; i < 16; ++i) rows[i] = _mm512_setzero_si512();
}

alignas(64) constexpr uint16_t kInterleaved[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                   8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
/// 16 pairs of a value from `low` and one from `high`.
CRESCENT_INLINE __m512i pairs(const uint16_t* low, const uint16_t* high, int64_t count) {
  const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(load16(low, count)), load16(high, count), 1);
  return _mm512_permutexvar_epi16(_mm512_load_si512(kInterleaved), both);
}
CRESCENT_INLINE __m512i pairs(const float* low, const float* high, int64_t count) {
  const auto mask = static_cast<__mmask16>(first(count));
  const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(mask, high), _mm512_maskz_loadu_ps(mask, low));
  return _mm512_permutexvar_epi16(_mm512_load_si512(kInterleaved), reinterpret_cast<__m512i>(both));
}

/// row[p] = pair p of every line.
template <class T>
CRESCENT_INLINE void read_pairs(const T* from, int64_t ld, int64_t lines, int64_t depth, __m512i* rows) {
  const int64_t whole = depth / 2;
  for (int64_t p = 0; p < whole; ++p, from += 2 * ld) rows[p] = pairs(from, from + ld, lines);
  for (int64_t p = whole; p < 16; ++p) {
    rows[p] = 2 * p < depth ? _mm512_and_si512(pairs(from, from, lines), _mm512_set1_epi32(0xffff)) : _mm512_setzero_si512();
  }
}

/// Turns lines into pairs and back: a transpose of 16 x 16 pairs.
CRESCENT_INLINE void transpose(const Rows& rows, __m512i* to) {
  __m512i r[16], t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = rows.row[i];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]), t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]), r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]), r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 8; ++j) {
    const int i = j + j / 4 * 4;
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88), t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 8; ++j) {
    to[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88), to[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xdd);
  }
}

template <bool in_rows, class T>
CRESCENT_INLINE void read(const T* from, int64_t ld, int64_t lines, int64_t depth, __m512i* rows) {
  in_rows ? read_lines(from, ld, lines, depth, rows) : read_pairs(from, ld, lines, depth, rows);
}

/// Strips of tiles whose rows are lines (of the left operand) or pairs. Memory is read front to back.
template <bool rows_are_lines, bool in_rows, class T>
CRESCENT_AVX512 void pack(const T* from, int64_t ld, int64_t lines, int64_t depth, uint16_t* to, int64_t stride) {
  auto pack_tile = [&](int64_t line, int64_t k) CRESCENT_AVX512 {
    const int64_t count = std::min(lines - line, kLines), deep = std::min(depth - k, kDepth);
    const T* corner = from + (in_rows ? line * ld + k : k * ld + line);
    auto* tile = reinterpret_cast<__m512i*>(to + line / kLines * stride + k * kLines);
    Rows read_first;
    __m512i* rows = in_rows == rows_are_lines ? tile : read_first.row;
    if (count == kLines && deep == kDepth) read<in_rows>(corner, ld, kLines, kDepth, rows);      // without masks
    else read<in_rows>(corner, ld, count, deep, rows);
    if constexpr (in_rows != rows_are_lines) transpose(read_first, tile);
    if constexpr (!in_rows) {                                  // the next step; the processor does not foresee so many rows
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

CRESCENT_INLINE void store16(__m512 values, int64_t count, float* to) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(first(count)), values);
}
CRESCENT_INLINE void store16(__m512 values, int64_t count, uint16_t* to) {
  const auto rounded = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(values));
  _mm256_mask_storeu_epi16(to, static_cast<__mmask16>(first(count)), rounded);
}

template <bool relu, class T>
CRESCENT_INLINE void store_columns(const float* from, int64_t width, int64_t rows, int64_t columns, const float* bias, T* to,
                                   int64_t ld) {
  const __m512 zero = _mm512_setzero_ps();
  const __m512 added = bias ? _mm512_maskz_loadu_ps(static_cast<__mmask16>(first(columns)), bias) : zero;
  for (int64_t i = 0; i < rows; ++i, from += width, to += ld) {
    __m512 x = _mm512_load_ps(from);
    if (bias) x = _mm512_add_ps(x, added);
    if (relu) x = _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, zero, _CMP_LT_OQ), zero);
    store16(x, columns, to);
  }
}

template <class T>
CRESCENT_AVX512 void store_rows(const float* from, int64_t width, int64_t rows, int64_t columns, const float* bias, bool relu,
                                T* to, int64_t ld) {
  for (int64_t j = 0; j < columns; j += kLines) {
    const float* own = bias ? bias + j : nullptr;
    relu ? store_columns<true>(from + j, width, rows, columns - j, own, to + j, ld)
         : store_columns<false>(from + j, width, rows, columns - j, own, to + j, ld);
  }
}

struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileConfiguration kWholeTiles;

CRESCENT_AVX512 bool are_finite(const uint16_t* values, int64_t count) {
  const __m512i exponent = _mm512_set1_epi16(0x7f80);
  Mask wrong = 0;
  for (int64_t i = 0; i < count; i += 32) {
    wrong |= _mm512_cmpeq_epi16_mask(_mm512_and_si512(load32(values + i, count - i), exponent), exponent);
  }
  return wrong == 0;
}

/// Tiles 0 to 3 are the sums, 4 to 7 what is multiplied.
CRESCENT_AMX_INLINE void begin_sums(const float* c, int64_t second, int64_t third, int64_t row, bool add) {
  if (add) {
    _tile_loadd(0, c, row);
    _tile_loadd(1, c + second, row);
    _tile_loadd(2, c + third, row);
    _tile_loadd(3, c + third + second, row);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
}
CRESCENT_AMX_INLINE void end_sums(float* c, int64_t second, int64_t third, int64_t row) {
  _tile_stored(0, c, row);
  _tile_stored(1, c + second, row);
  _tile_stored(2, c + third, row);
  _tile_stored(3, c + third + second, row);
}

/// step(offset in a, offset in b) for all steps of all runs.
template <class F>
CRESCENT_AMX_INLINE void each_step(const Left& a, int64_t steps, int64_t runs, F&& step) {
  int64_t right = 0;
  for (int64_t r = 0; r < runs; ++r) {
    int64_t left = r * a.run;
    for (int64_t i = 0; i < steps; ++i, left += a.step, right += kTileValues) step(left, right);
  }
}

CRESCENT_AMX void multiply_square(const Left& a, const Right& b, int64_t steps, int64_t runs, float* c, bool add) {
  constexpr int64_t kSecond = kLines, kThird = 2 * kLines * kLines, kRow = 2 * kLines * sizeof(float);
  const int64_t row = a.row * static_cast<int64_t>(sizeof(uint16_t));
  begin_sums(c, kSecond, kThird, kRow, add);
  each_step(a, steps, runs, [&](int64_t left, int64_t right) CRESCENT_AMX_LAMBDA {
    _tile_loadd(4, a.strips[0] + left, row);
    _tile_loadd(6, b.strips[0] + right, 64);
    _tile_loadd(7, b.strips[1] + right, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a.strips[1] + left, row);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  });
  end_sums(c, kSecond, kThird, kRow);
}

CRESCENT_AMX void multiply_tall(const Left& a, const Right& b, int64_t steps, int64_t runs, float* c, bool add) {
  constexpr int64_t kSecond = kLines * kLines, kThird = 2 * kSecond, kRow = kLines * sizeof(float);
  const int64_t row = a.row * static_cast<int64_t>(sizeof(uint16_t));
  begin_sums(c, kSecond, kThird, kRow, add);
  each_step(a, steps, runs, [&](int64_t left, int64_t right) CRESCENT_AMX_LAMBDA {
    _tile_loadd(7, b.strips[0] + right, 64);
    _tile_loadd(4, a.strips[0] + left, row);
    _tile_dpbf16ps(0, 4, 7);
    _tile_loadd(5, a.strips[1] + left, row);
    _tile_dpbf16ps(1, 5, 7);
    _tile_loadd(6, a.strips[2] + left, row);
    _tile_dpbf16ps(2, 6, 7);
    _tile_loadd(4, a.strips[3] + left, row);
    _tile_dpbf16ps(3, 4, 7);
  });
  end_sums(c, kSecond, kThird, kRow);
}

CRESCENT_AMX void multiply_wide(const Left& a, const Right& b, int64_t steps, int64_t runs, float* c, bool add) {
  constexpr int64_t kSecond = kLines, kThird = 2 * kSecond, kRow = 4 * kLines * sizeof(float);
  const int64_t row = a.row * static_cast<int64_t>(sizeof(uint16_t));
  begin_sums(c, kSecond, kThird, kRow, add);
  each_step(a, steps, runs, [&](int64_t left, int64_t right) CRESCENT_AMX_LAMBDA {
    _tile_loadd(7, a.strips[0] + left, row);
    _tile_loadd(4, b.strips[0] + right, 64);
    _tile_dpbf16ps(0, 7, 4);
    _tile_loadd(5, b.strips[1] + right, 64);
    _tile_dpbf16ps(1, 7, 5);
    _tile_loadd(6, b.strips[2] + right, 64);
    _tile_dpbf16ps(2, 7, 6);
    _tile_loadd(4, b.strips[3] + right, 64);
    _tile_dpbf16ps(3, 7, 4);
  });
  end_sums(c, kSecond, kThird, kRow);
}

CRESCENT_AMX void configure() { _tile_loadconfig(&kWholeTiles); }
CRESCENT_AMX void release() { _tile_release(); }

}  // namespace

bool available() {
  static const bool answer = processor_has_tiles() && system_permits();
  return answer && (hwy::SupportedTargets() & HWY_AVX3) != 0;
}

Tiles::Tiles() { configure(); }
Tiles::~Tiles() { release(); }

bool all_finite(const uint16_t* values, int64_t count) { return are_finite(values, count); }

void multiply(Block block, const Left& a, const Right& b, int64_t steps, int64_t runs, float* c, bool add) {
  switch (block) {
    case Block::square: return multiply_square(a, b, steps, runs, c, add);
    case Block::tall: return multiply_tall(a, b, steps, runs, c, add);
    case Block::wide: return multiply_wide(a, b, steps, runs, c, add);
  }
}

template <class T>
void pack_left(const T* from, int64_t ld, Lie lie, int64_t lines, int64_t depth, uint16_t* to, int64_t stride) {
  const bool in_rows = lie == Lie::lines_in_rows;
  in_rows ? pack<true, true>(from, ld, lines, depth, to, stride) : pack<true, false>(from, ld, lines, depth, to, stride);
}
template <class T>
void pack_right(const T* from, int64_t ld, Lie lie, int64_t lines, int64_t depth, uint16_t* to, int64_t stride) {
  const bool in_rows = lie == Lie::lines_in_rows;
  in_rows ? pack<false, true>(from, ld, lines, depth, to, stride) : pack<false, false>(from, ld, lines, depth, to, stride);
}
template <class T>
void store(const float* from, int64_t width, int64_t rows, int64_t columns, const float* bias, bool relu, T* to, int64_t ld) {
  store_rows(from, width, rows, columns, bias, relu, to, ld);
}

#else

bool available() { return false; }
Tiles::Tiles() = default;
Tiles::~Tiles() = default;
void multiply(Block, const Left&, const Right&, int64_t, int64_t, float*, bool) {}
bool all_finite(const uint16_t*, int64_t) { return true; }
template <class T>
void pack_left(const T*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t) {}
template <class T>
void pack_right(const T*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t) {}
template <class T>
void store(const float*, int64_t, int64_t, int64_t, const float*, bool, T*, int64_t) {}

#endif

template void pack_left(const uint16_t*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t);
template void pack_left(const float*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t);
template void pack_right(const uint16_t*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t);
template void pack_right(const float*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t);
template void store(const float*, int64_t, int64_t, int64_t, const float*, bool, uint16_t*, int64_t);
template void store(const float*, int64_t, int64_t, int64_t, const float*, bool, float*, int64_t);

}  // namespace crescent::cpu::amx
