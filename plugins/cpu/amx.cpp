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
CRESCENT_INLINE __m256i load16(const float* from, int64_t count) {
  return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(static_cast<__mmask16>(first(count)), from)));
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

CRESCENT_INLINE __m512i pairs(__m256i low, __m256i high) {
  return _mm512_or_si512(_mm512_cvtepu16_epi32(low), _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
}

/// row[p] = pair p of every line.
template <class T>
CRESCENT_INLINE void read_pairs(const T* from, int64_t ld, int64_t lines, int64_t depth, __m512i* rows) {
  const __m256i zero = _mm256_setzero_si256();
  const int64_t whole = depth / 2;
  for (int64_t p = 0; p < whole; ++p, from += 2 * ld) rows[p] = pairs(load16(from, lines), load16(from + ld, lines));
  for (int64_t p = whole; p < 16; ++p) rows[p] = 2 * p < depth ? pairs(load16(from, lines), zero) : _mm512_setzero_si512();
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
  };
  for (int64_t line = 0; in_rows && line < lines; line += kLines) {
    for (int64_t k = 0; k < depth; k += kDepth) pack_tile(line, k);
  }
  for (int64_t k = 0; !in_rows && k < depth; k += kDepth) {
    for (int64_t line = 0; line < lines; line += kLines) pack_tile(line, k);
  }
}

CRESCENT_INLINE void store16(const float* from, int64_t count, float* to) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(first(count)), _mm512_load_ps(from));
}
CRESCENT_INLINE void store16(const float* from, int64_t count, uint16_t* to) {
  const auto values = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_load_ps(from)));
  _mm256_mask_storeu_epi16(to, static_cast<__mmask16>(first(count)), values);
}

template <class T>
CRESCENT_AVX512 void store_rows(const float* from, int64_t rows, int64_t columns, T* to, int64_t ld) {
  for (int64_t i = 0; i < rows; ++i, from += kBlock, to += ld) {
    store16(from, columns, to);
    if (columns > kLines) store16(from + kLines, columns - kLines, to + kLines);
  }
}

struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileConfiguration kWholeTiles;

CRESCENT_AMX void configure() { _tile_loadconfig(&kWholeTiles); }
CRESCENT_AMX void release() { _tile_release(); }

}  // namespace

bool available() {
  static const bool answer = processor_has_tiles() && system_permits();
  return answer && (hwy::SupportedTargets() & HWY_AVX3) != 0;
}

Tiles::Tiles() { configure(); }
Tiles::~Tiles() { release(); }

CRESCENT_AMX void multiply(const Left& a, const Right& b, int64_t steps, int64_t runs, float* c, bool add) {
  constexpr int64_t kRow = kBlock * sizeof(float);
  float* lower = c + kLines * kBlock;
  if (add) {
    _tile_loadd(0, c, kRow);
    _tile_loadd(1, c + kLines, kRow);
    _tile_loadd(2, lower, kRow);
    _tile_loadd(3, lower + kLines, kRow);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const int64_t row = a.row * static_cast<int64_t>(sizeof(uint16_t)), second = a.second - a.first;
  const uint16_t *right = b.first, *other = b.second;
  for (int64_t r = 0; r < runs; ++r) {
    const uint16_t* left = a.first + r * a.run;
    for (int64_t i = 0; i < steps; ++i, left += a.step, right += kTileValues, other += kTileValues) {
      _tile_loadd(4, left, row);
      _tile_loadd(6, right, 64);
      _tile_loadd(7, other, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_loadd(5, left + second, row);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, c, kRow);
  _tile_stored(1, c + kLines, kRow);
  _tile_stored(2, lower, kRow);
  _tile_stored(3, lower + kLines, kRow);
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
void store(const float* from, int64_t rows, int64_t columns, T* to, int64_t ld) {
  store_rows(from, rows, columns, to, ld);
}

#else

bool available() { return false; }
Tiles::Tiles() = default;
Tiles::~Tiles() = default;
void multiply(const Left&, const Right&, int64_t, int64_t, float*, bool) {}
template <class T>
void pack_left(const T*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t) {}
template <class T>
void pack_right(const T*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t) {}
template <class T>
void store(const float*, int64_t, int64_t, T*, int64_t) {}

#endif

template void pack_left(const uint16_t*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t);
template void pack_left(const float*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t);
template void pack_right(const uint16_t*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t);
template void pack_right(const float*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t);
template void store(const float*, int64_t, int64_t, uint16_t*, int64_t);
template void store(const float*, int64_t, int64_t, float*, int64_t);

}  // namespace crescent::cpu::amx
