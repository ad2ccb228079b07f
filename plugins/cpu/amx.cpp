#include "amx.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <hwy/targets.h>
#include <type_traits>
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

/// What some values become: a vector, or one for each of the three they are the sum of.
template <Form form>
struct Forms {
  __m512i part[parts(form)];
};

/// The nearest values of 16 bits. A NaN of all ones becomes 0, and is found in what is left of it.
CRESCENT_INLINE __m512 upper_half(__m512 x) {
  const __m512i rounded = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
  return _mm512_castsi512_ps(_mm512_and_si512(rounded, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}

/// The upper halves of `low` and `high` in this order, then those of what is left, and of what is left then, which is exact.
CRESCENT_INLINE Forms<Form::split> split(__m512 low, __m512 high, __m512i order) {
  Forms<Form::split> result;
  for (int p = 0; p < 3; ++p) {
    const __m512 lower = p < 2 ? upper_half(low) : low, upper = p < 2 ? upper_half(high) : high;
    result.part[p] = _mm512_permutex2var_epi16(_mm512_castps_si512(lower), order, _mm512_castps_si512(upper));
    low = _mm512_sub_ps(low, lower), high = _mm512_sub_ps(high, upper);
  }
  return result;
}

/// Every second of 64, in order.
alignas(64) constexpr uint16_t kUpper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                             33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
/// The same of two vectors in turn.
alignas(64) constexpr uint16_t kUpperInTurn[32] = {1,  33, 3,  35, 5,  37, 7,  39, 9,  41, 11, 43, 13, 45, 15, 47,
                                                   17, 49, 19, 51, 21, 53, 23, 55, 25, 57, 27, 59, 29, 61, 31, 63};
alignas(64) constexpr uint16_t kInterleaved[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                   8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};

/// `count` <= 32 values, zeros above.
template <Form form>
CRESCENT_INLINE Forms<form> load32(const uint16_t* from, int64_t count) {
  return {{_mm512_maskz_loadu_epi16(first(count), from)}};
}
template <Form form>
CRESCENT_INLINE Forms<form> load32(const float* from, int64_t count) {
  const Mask mask = first(count);
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), from + 16);
  if constexpr (form == Form::split) return split(low, high, _mm512_load_si512(kUpper));
  else return {{reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low))}};
}
CRESCENT_INLINE __m256i load16(const uint16_t* from, int64_t count) {
  return _mm256_maskz_loadu_epi16(static_cast<__mmask16>(first(count)), from);
}

/// The rows of a step's tiles: lines, or pairs along k.
template <Form form>
struct alignas(64) Rows {
  __m512i tile[parts(form)][16];
};

template <Form form>
CRESCENT_INLINE void put(const Forms<form>& forms, int64_t row, __m512i* tiles) {
  for (int p = 0; p < parts(form); ++p) tiles[16 * p + row] = forms.part[p];
}
template <Form form>
CRESCENT_INLINE void put_zeros(int64_t row, __m512i* tiles) {
  for (int p = 0; p < parts(form); ++p) tiles[16 * p + row] = _mm512_setzero_si512();
}

/// Row i: the pairs of line i.
template <Form form, class T>
CRESCENT_INLINE void read_lines(const T* from, int64_t ld, int64_t lines, int64_t depth, __m512i* tiles) {
  for (int64_t i = 0; i < lines; ++i, from += ld) put<form>(load32<form>(from, depth), i, tiles);
  for (int64_t i = lines; i < 16; ++i) put_zeros<form>(i, tiles);
}

/// 16 pairs of a value from `low` and one from `high`, or zero where there is none.
template <Form form>
CRESCENT_INLINE Forms<form> pairs(const uint16_t* low, const uint16_t* high, int64_t count) {
  const __m256i upper = high ? load16(high, count) : _mm256_setzero_si256();
  const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(load16(low, count)), upper, 1);
  return {{_mm512_permutexvar_epi16(_mm512_load_si512(kInterleaved), both)}};
}
template <Form form>
CRESCENT_INLINE Forms<form> pairs(const float* low, const float* high, int64_t count) {
  const auto mask = static_cast<__mmask16>(first(count));
  const __m512 lower = _mm512_maskz_loadu_ps(mask, low), upper = high ? _mm512_maskz_loadu_ps(mask, high) : _mm512_setzero_ps();
  if constexpr (form == Form::split) return split(lower, upper, _mm512_load_si512(kUpperInTurn));
  else return {{_mm512_permutexvar_epi16(_mm512_load_si512(kInterleaved), reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(upper, lower)))}};
}

/// Row p: pair p of every line.
template <Form form, class T>
CRESCENT_INLINE void read_pairs(const T* from, int64_t ld, int64_t lines, int64_t depth, __m512i* tiles) {
  const int64_t whole = depth / 2;
  for (int64_t p = 0; p < whole; ++p, from += 2 * ld) put<form>(pairs<form>(from, from + ld, lines), p, tiles);
  for (int64_t p = whole; p < 16; ++p) {
    if (2 * p < depth) put<form>(pairs<form>(from, static_cast<const T*>(nullptr), lines), p, tiles);
    else put_zeros<form>(p, tiles);
  }
}

/// Turns lines into pairs and back: a transpose of 16 x 16 pairs.
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

template <bool in_rows, Form form, class T>
CRESCENT_INLINE void read(const T* from, int64_t ld, int64_t lines, int64_t depth, __m512i* tiles) {
  in_rows ? read_lines<form>(from, ld, lines, depth, tiles) : read_pairs<form>(from, ld, lines, depth, tiles);
}

/// Strips of tiles whose rows are lines (of the left operand) or pairs. Memory is read front to back.
template <bool rows_are_lines, bool in_rows, Form form, class T>
CRESCENT_AVX512 void pack(const T* from, int64_t ld, int64_t lines, int64_t depth, uint16_t* to, int64_t stride) {
  auto pack_tile = [&](int64_t line, int64_t k) CRESCENT_AVX512 {
    const int64_t count = std::min(lines - line, kLines), deep = std::min(depth - k, kDepth);
    const T* corner = from + (in_rows ? line * ld + k : k * ld + line);
    auto* tiles = reinterpret_cast<__m512i*>(to + line / kLines * stride + k * kLines * parts(form));
    Rows<form> read_first;
    __m512i* rows = in_rows == rows_are_lines ? tiles : read_first.tile[0];
    if (count == kLines && deep == kDepth) read<in_rows, form>(corner, ld, kLines, kDepth, rows);      // without masks
    else read<in_rows, form>(corner, ld, count, deep, rows);
    if constexpr (in_rows != rows_are_lines) {
      for (int p = 0; p < parts(form); ++p) transpose(read_first.tile[p], tiles + 16 * p);
    }
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

float value_of(uint16_t upper_half) { return std::bit_cast<float>(static_cast<uint32_t>(upper_half) << 16); }

CRESCENT_INLINE void store16(__m512 values, __mmask16 mask, float* to) { _mm512_mask_storeu_ps(to, mask, values); }
CRESCENT_INLINE void store16(__m512 values, __mmask16 mask, uint16_t* to) {
  _mm256_mask_storeu_epi16(to, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(values)));
}

template <bool relu, class T>
CRESCENT_INLINE void store_columns(const float* from, int64_t width, int64_t rows, int64_t columns, const float* bias, T* to,
                                   int64_t ld) {
  const __m512 zero = _mm512_setzero_ps();
  const auto mask = static_cast<__mmask16>(first(columns));
  const __m512 added = bias ? _mm512_maskz_loadu_ps(mask, bias) : zero;
  for (int64_t i = 0; i < rows; ++i, from += width, to += ld) {
    __m512 x = _mm512_load_ps(from);
    if (bias) x = _mm512_add_ps(x, added);
    if (relu) x = _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, zero, _CMP_LT_OQ), zero);
    store16(x, mask, to);
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
    wrong |= _mm512_cmpeq_epi16_mask(_mm512_and_si512(load32<Form::rounded>(values + i, count - i).part[0], exponent), exponent);
  }
  return wrong == 0;
}

CRESCENT_AVX512 void add_rows_to(const float* x, int64_t ld, int64_t rows, int64_t columns, float* sums) {
  constexpr int kVectors = 4;
  for (int64_t j = 0; j < columns; j += kVectors * kLines) {
    __mmask16 mask[kVectors];
    __m512 sum[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      mask[v] = static_cast<__mmask16>(first(columns - j - v * kLines));
      sum[v] = _mm512_maskz_loadu_ps(mask[v], sums + j + v * kLines);
    }
    for (int64_t i = 0; i < rows; ++i) {
      const float* row = x + i * ld + j;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[v] = _mm512_add_ps(sum[v], _mm512_maskz_loadu_ps(mask[v], row + v * kLines));
    }
    for (int v = 0; v < kVectors; ++v) _mm512_mask_storeu_ps(sums + j + v * kLines, mask[v], sum[v]);
  }
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

/// Stores a block row by row.
class Storing {
 public:
  CRESCENT_INLINE explicit Storing(const Result& result) : r_(result) {
    for (int half = 0; half < 2; ++half) {
      masks_[half] = static_cast<__mmask16>(first(r_.columns - half * kLines));
      bias_[half] = r_.bias ? _mm512_loadu_ps(r_.bias + half * kLines) : _mm512_setzero_ps();
    }
  }
  CRESCENT_INLINE void rows(int64_t count) {
    for (int64_t end = std::min(row_ + count, r_.rows); row_ < end; ++row_) half<0>(), half<1>();
  }
  CRESCENT_INLINE bool all_finite() const {
    return _mm512_cmp_ps_mask(_mm512_add_ps(zeros_[0], zeros_[1]), _mm512_setzero_ps(), _CMP_NEQ_UQ) == 0;
  }

 private:
  template <int kHalf>
  CRESCENT_INLINE void half() {
    const __m512 zero = _mm512_setzero_ps();
    const int64_t own = row_ * kBlock + kHalf * kLines, at = row_ * r_.ld + kHalf * kLines;
    __m512 x = _mm512_load_ps(r_.sums + own);
    if (r_.total) x = _mm512_add_ps(x, _mm512_load_ps(r_.total + own));
    zeros_[kHalf] = _mm512_fmadd_ps(x, zero, zeros_[kHalf]);             // NaN once there is something else than a number
    if (r_.combine != Combine::none) {
      const __m512 other = _mm512_maskz_loadu_ps(masks_[kHalf], r_.other + at);
      if (r_.combine == Combine::add) x = _mm512_add_ps(x, other);
      else x = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(other, zero, _CMP_GT_OQ), x);
    }
    if (r_.bias) x = _mm512_add_ps(x, bias_[kHalf]);
    if (r_.relu) x = _mm512_max_ps(zero, x);                             // of NaN and 0 the second
    _mm512_mask_storeu_ps(r_.c + at, masks_[kHalf], x);
  }

  const Result& r_;
  int64_t row_ = 0;
  __mmask16 masks_[2];
  __m512 bias_[2], zeros_[2] = {};
};

/// Asks for rows of what a block will be stored to, and combined with.
class Fetching {
 public:
  CRESCENT_INLINE explicit Fetching(const Result& result) : c_(result.c), other_(result.other), ld_(result.ld), left_(result.rows) {}
  CRESCENT_INLINE void rows(int64_t count) {
    for (int64_t end = left_ - std::min(count, left_); left_ > end; --left_, c_ += ld_) {
      __builtin_prefetch(c_, 1, 3), __builtin_prefetch(c_ + kLines, 1, 3);
      if (!other_) continue;
      __builtin_prefetch(other_, 0, 3), __builtin_prefetch(other_ + kLines, 0, 3);
      other_ += ld_;
    }
  }

 private:
  const float *c_, *other_;
  int64_t ld_, left_;
};

/// Six of the nine products of the parts of split values, four tiles each.
CRESCENT_AMX bool multiply_square_split(const Left& a, const Right& b, int64_t steps, const Result& result, const Result& earlier) {
  constexpr int64_t kSecond = kLines, kThird = 2 * kLines * kLines, kRow = 2 * kLines * sizeof(float);
  constexpr int64_t kPairs = 6;
  const int64_t rows = (kBlock + kPairs * steps - 1) / (kPairs * steps);     // at a time
  Storing storing(earlier);
  Fetching fetching(result);
  begin_sums(result.sums, kSecond, kThird, kRow, false);
  for (int64_t at = 0, end = steps * 3 * kTileValues; at < end; at += 3 * kTileValues) {
    auto load_left = [&](int64_t part) CRESCENT_AMX_LAMBDA {
      _tile_loadd(4, a.strips[0] + at + part * kTileValues, 64);
      _tile_loadd(5, a.strips[1] + at + part * kTileValues, 64);
    };
    auto load_right = [&](int64_t part) CRESCENT_AMX_LAMBDA {
      _tile_loadd(6, b.strips[0] + at + part * kTileValues, 64);
      _tile_loadd(7, b.strips[1] + at + part * kTileValues, 64);
    };
    auto multiply_tiles = [&]() CRESCENT_AMX_LAMBDA {
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
      storing.rows(rows);
      fetching.rows(rows);
    };
    load_left(2), load_right(0), multiply_tiles();
    load_left(1), multiply_tiles();
    load_right(1), multiply_tiles();
    load_left(0), multiply_tiles();
    load_right(2), multiply_tiles();
    load_right(0), multiply_tiles();
  }
  end_sums(result.sums, kSecond, kThird, kRow);
  return storing.all_finite();
}

CRESCENT_AVX512 bool store_block(const Result& result) {
  Storing storing(result);
  storing.rows(kBlock);
  return storing.all_finite();
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

void join_right(const uint16_t* strip, int64_t lines, int64_t depth, float* to, int64_t ld) {
  for (int64_t k = 0; k < depth; ++k, to += ld) {
    const uint16_t* tiles = strip + k / kDepth * 3 * kTileValues + k % kDepth / 2 * kDepth + k % 2;
    for (int64_t i = 0; i < lines; ++i) {
      const float first = value_of(tiles[2 * i]), rest = value_of(tiles[kTileValues + 2 * i]) + value_of(tiles[2 * kTileValues + 2 * i]);
      to[i] = std::isfinite(first) ? first + rest : first;
    }
  }
}
void add_rows(const float* x, int64_t ld, int64_t rows, int64_t columns, float* sums) { add_rows_to(x, ld, rows, columns, sums); }
bool all_finite(const uint16_t* values, int64_t count) { return are_finite(values, count); }

void multiply(Block block, const Left& a, const Right& b, int64_t steps, int64_t runs, float* c, bool add) {
  switch (block) {
    case Block::square: return multiply_square(a, b, steps, runs, c, add);
    case Block::tall: return multiply_tall(a, b, steps, runs, c, add);
    case Block::wide: return multiply_wide(a, b, steps, runs, c, add);
  }
}

bool multiply_split(const Left& a, const Right& b, int64_t steps, const Result& result, const Result& earlier) {
  return multiply_square_split(a, b, steps, result, earlier);
}
bool store(const Result& result) { return store_block(result); }

namespace {

template <bool rows_are_lines, Form form, class T>
void pack_as(const T* from, int64_t ld, Lie lie, int64_t lines, int64_t depth, uint16_t* to, int64_t stride) {
  lie == Lie::lines_in_rows ? pack<rows_are_lines, true, form>(from, ld, lines, depth, to, stride)
                            : pack<rows_are_lines, false, form>(from, ld, lines, depth, to, stride);
}
template <bool rows_are_lines, class T>
void pack_as(const T* from, int64_t ld, Lie lie, int64_t lines, int64_t depth, uint16_t* to, int64_t stride, Form form) {
  if constexpr (std::is_same_v<T, float>) {
    if (form == Form::split) return pack_as<rows_are_lines, Form::split>(from, ld, lie, lines, depth, to, stride);
  }
  pack_as<rows_are_lines, Form::rounded>(from, ld, lie, lines, depth, to, stride);
}

}  // namespace

template <class T>
void pack_left(const T* from, int64_t ld, Lie lie, int64_t lines, int64_t depth, uint16_t* to, int64_t stride, Form form) {
  pack_as<true>(from, ld, lie, lines, depth, to, stride, form);
}
template <class T>
void pack_right(const T* from, int64_t ld, Lie lie, int64_t lines, int64_t depth, uint16_t* to, int64_t stride, Form form) {
  pack_as<false>(from, ld, lie, lines, depth, to, stride, form);
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
bool multiply_split(const Left&, const Right&, int64_t, const Result&, const Result&) { return true; }
bool store(const Result&) { return true; }
void join_right(const uint16_t*, int64_t, int64_t, float*, int64_t) {}
void add_rows(const float*, int64_t, int64_t, int64_t, float*) {}
bool all_finite(const uint16_t*, int64_t) { return true; }
template <class T>
void pack_left(const T*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t, Form) {}
template <class T>
void pack_right(const T*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t, Form) {}
template <class T>
void store(const float*, int64_t, int64_t, int64_t, const float*, bool, T*, int64_t) {}

#endif

template void pack_left(const uint16_t*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t, Form);
template void pack_left(const float*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t, Form);
template void pack_right(const uint16_t*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t, Form);
template void pack_right(const float*, int64_t, Lie, int64_t, int64_t, uint16_t*, int64_t, Form);
template void store(const float*, int64_t, int64_t, int64_t, const float*, bool, uint16_t*, int64_t);
template void store(const float*, int64_t, int64_t, int64_t, const float*, bool, float*, int64_t);

}  // namespace crescent::cpu::amx
