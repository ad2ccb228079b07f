#include "matmul/amx.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hwy/targets.h>

#include "matmul/amx-inl.h"
#include "matmul/amx_vectors.h"
#endif

namespace crescent::cpu::amx {

#ifdef __x86_64__

namespace {

constexpr __mmask16 kAllLanes = 0xffff;

bool processor_has_vectors() {
  unsigned a, b, c, d, a1;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  const bool bw = b >> 30 & 1, vl = b >> 31 & 1, dq = b >> 17 & 1;
  return bw && vl && dq && __get_cpuid_count(7, 1, &a1, &b, &c, &d) && (a1 >> 5 & 1);
}

bool processor_has_tiles() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return (d >> 22 & 1) && (d >> 24 & 1);
}

/// Asks Linux for permission to use the tile registers, which a process does not have by default.
bool system_permits_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// Stores the lanes of `mask`. Some processors take ten times as long for a store with a mask.
CRESCENT_INLINE void store16(__m512 values, __mmask16 mask, float* to) {
  mask == kAllLanes ? _mm512_storeu_ps(to, values) : _mm512_mask_storeu_ps(to, mask, values);
}
CRESCENT_INLINE void store16(__m512 values, __mmask16 mask, uint16_t* to) {
  const auto rounded_values = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(values));
  auto* to_halves = reinterpret_cast<__m256i*>(to);
  mask == kAllLanes ? _mm256_storeu_si256(to_halves, rounded_values)
                    : _mm256_mask_storeu_epi16(to, mask, rounded_values);
}

template <bool relu, class T>
CRESCENT_INLINE void store_columns(const float* from, int64_t width, int64_t rows, int64_t columns,
                                   const float* bias, T* to, int64_t ld) {
  const __m512 zero = _mm512_setzero_ps();
  const auto mask = static_cast<__mmask16>(first_lanes(columns));
  const __m512 bias_vector = bias ? _mm512_maskz_loadu_ps(mask, bias) : zero;
  for (int64_t i = 0; i < rows; ++i, from += width, to += ld) {
    __m512 x = _mm512_load_ps(from);
    if (bias) x = _mm512_add_ps(x, bias_vector);
    if (relu) x = _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, zero, _CMP_LT_OQ), zero);
    store16(x, mask, to);
  }
}

template <class T>
CRESCENT_AVX512 void store_rows(const float* from, int64_t width, int64_t rows, int64_t columns,
                                const float* bias, bool relu, T* to, int64_t ld) {
  for (int64_t j = 0; j < columns; j += kLines) {
    const float* block_bias = bias ? bias + j : nullptr;
    relu ? store_columns<true>(from + j, width, rows, columns - j, block_bias, to + j, ld)
         : store_columns<false>(from + j, width, rows, columns - j, block_bias, to + j, ld);
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
  Mask non_finite = 0;
  for (int64_t i = 0; i < count; i += 32) {
    non_finite |= _mm512_cmpeq_epi16_mask(
        _mm512_and_si512(_mm512_maskz_loadu_epi16(first_lanes(count - i), values + i), exponent),
        exponent);
  }
  return non_finite == 0;
}

CRESCENT_AVX512 void add_rows_to(const float* x, int64_t ld, int64_t rows, int64_t columns,
                                 float* sums) {
  constexpr int kVectors = 4;
  for (int64_t j = 0; j < columns; j += kVectors * kLines) {
    __mmask16 mask[kVectors];
    __m512 sum[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      mask[v] = static_cast<__mmask16>(first_lanes(columns - j - v * kLines));
      sum[v] = _mm512_maskz_loadu_ps(mask[v], sums + j + v * kLines);
    }
    for (int64_t i = 0; i < rows; ++i) {
      const float* row = x + i * ld + j;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sum[v] = _mm512_add_ps(sum[v], _mm512_maskz_loadu_ps(mask[v], row + v * kLines));
    }
    for (int v = 0; v < kVectors; ++v)
      _mm512_mask_storeu_ps(sums + j + v * kLines, mask[v], sum[v]);
  }
}

/// Sets tiles 0 to 3, which hold the sums, to c or to zero; tiles 4 to 7 are for the operands.
CRESCENT_AMX_INLINE void begin_sums(const float* c, int64_t second_tile, int64_t third_tile,
                                    int64_t row_bytes, bool add) {
  if (add) {
    _tile_loadd(0, c, row_bytes);
    _tile_loadd(1, c + second_tile, row_bytes);
    _tile_loadd(2, c + third_tile, row_bytes);
    _tile_loadd(3, c + third_tile + second_tile, row_bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
}
CRESCENT_AMX_INLINE void end_sums(float* c, int64_t second_tile, int64_t third_tile,
                                  int64_t row_bytes) {
  _tile_stored(0, c, row_bytes);
  _tile_stored(1, c + second_tile, row_bytes);
  _tile_stored(2, c + third_tile, row_bytes);
  _tile_stored(3, c + third_tile + second_tile, row_bytes);
}

/// Calls step(offset in a, offset in b) for all steps of all runs; a run is a sequence of steps at
/// equal distances.
template <class F>
CRESCENT_AMX_INLINE void for_each_step(const LeftStrips& a, int64_t steps, int64_t runs, F&& step) {
  int64_t b_offset = 0;
  for (int64_t r = 0; r < runs; ++r) {
    int64_t a_offset = r * a.run_stride;
    for (int64_t i = 0; i < steps; ++i, a_offset += a.step_stride, b_offset += kTileValues)
      step(a_offset, b_offset);
  }
}

/// Writes the sums of a block to the result, row by row.
class BlockWriter {
 public:
  CRESCENT_INLINE explicit BlockWriter(const Result& result) : r_(result) {
    for (int half = 0; half < 2; ++half) {
      masks_[half] = static_cast<__mmask16>(first_lanes(r_.columns - half * kLines));
      bias_[half] = r_.bias ? _mm512_loadu_ps(r_.bias + half * kLines) : _mm512_setzero_ps();
    }
  }
  CRESCENT_INLINE void write_rows(int64_t count) {
    for (int64_t end = std::min(row_ + count, r_.rows); row_ < end; ++row_)
      write_half<0>(), write_half<1>();
  }
  CRESCENT_INLINE bool all_finite() const {
    return _mm512_cmp_ps_mask(_mm512_add_ps(zeros_[0], zeros_[1]), _mm512_setzero_ps(),
                              _CMP_NEQ_UQ) == 0;
  }

 private:
  template <int kColumnHalf>
  CRESCENT_INLINE void write_half() {
    const __m512 zero = _mm512_setzero_ps();
    const int64_t source_offset = row_ * kBlock + kColumnHalf * kLines,
                  target_offset = row_ * r_.ld + kColumnHalf * kLines;
    __m512 x = _mm512_load_ps(r_.sums + source_offset);
    if (r_.total) x = _mm512_add_ps(x, _mm512_load_ps(r_.total + source_offset));
    // The sum of 0 * x becomes NaN as soon as an x is not finite.
    zeros_[kColumnHalf] = _mm512_fmadd_ps(x, zero, zeros_[kColumnHalf]);
    if (r_.combine != Combine::none) {
      const __m512 other = _mm512_maskz_loadu_ps(masks_[kColumnHalf], r_.other + target_offset);
      if (r_.combine == Combine::add)
        x = _mm512_add_ps(x, other);
      else
        x = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(other, zero, _CMP_GT_OQ), x);
    }
    if (r_.bias) x = _mm512_add_ps(x, bias_[kColumnHalf]);
    // If x is NaN, the instruction returns its second operand, which is x.
    if (r_.relu) x = _mm512_max_ps(zero, x);
    _mm512_mask_storeu_ps(r_.c + target_offset, masks_[kColumnHalf], x);
  }

  const Result& r_;
  int64_t row_ = 0;
  __mmask16 masks_[2];
  __m512 bias_[2], zeros_[2] = {};
};

/// Prefetches the rows of c to which a block will be stored, and the rows of the array with which
/// they are combined.
class ResultPrefetcher {
 public:
  CRESCENT_INLINE explicit ResultPrefetcher(const Result& result)
      : c_(result.c), other_(result.other), ld_(result.ld), rows_left_(result.rows) {}
  CRESCENT_INLINE void fetch_rows(int64_t count) {
    for (int64_t end = rows_left_ - std::min(count, rows_left_); rows_left_ > end;
         --rows_left_, c_ += ld_) {
      __builtin_prefetch(c_, 1, 3), __builtin_prefetch(c_ + kLines, 1, 3);
      if (!other_) continue;
      __builtin_prefetch(other_, 0, 3), __builtin_prefetch(other_ + kLines, 0, 3);
      other_ += ld_;
    }
  }

 private:
  const float *c_, *other_;
  int64_t ld_, rows_left_;
};

/// Multiplies strips of split values. Of the nine products of their parts, the six that matter in
/// float32 are added to four tiles of sums.
CRESCENT_AMX bool multiply_square_split(const LeftStrips& a, const RightStrips& b, int64_t steps,
                                        const Result& result, const Result& earlier) {
  constexpr int64_t kSecondTile = kLines, kThirdTile = 2 * kLines * kLines,
                    kRowBytes = 2 * kLines * sizeof(float);
  constexpr int64_t kPairs = 6;
  // The number of rows of `earlier` that are stored for each multiplication of tiles.
  const int64_t rows_per_multiplication = pieces(kBlock, kPairs * steps);
  BlockWriter writer(earlier);
  ResultPrefetcher prefetcher(result);
  begin_sums(result.sums, kSecondTile, kThirdTile, kRowBytes, false);
  for (int64_t offset = 0, end = steps * 3 * kTileValues; offset < end; offset += 3 * kTileValues) {
    auto load_left = [&](int64_t part) CRESCENT_AMX_LAMBDA {
      _tile_loadd(4, a.strips[0] + offset + part * kTileValues, 64);
      _tile_loadd(5, a.strips[1] + offset + part * kTileValues, 64);
    };
    auto load_right = [&](int64_t part) CRESCENT_AMX_LAMBDA {
      _tile_loadd(6, b.strips[0] + offset + part * kTileValues, 64);
      _tile_loadd(7, b.strips[1] + offset + part * kTileValues, 64);
    };
    auto multiply_tiles = [&]() CRESCENT_AMX_LAMBDA {
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
      writer.write_rows(rows_per_multiplication);
      prefetcher.fetch_rows(rows_per_multiplication);
    };
    load_left(2), load_right(0), multiply_tiles();
    load_left(1), multiply_tiles();
    load_right(1), multiply_tiles();
    load_left(0), multiply_tiles();
    load_right(2), multiply_tiles();
    load_right(0), multiply_tiles();
  }
  end_sums(result.sums, kSecondTile, kThirdTile, kRowBytes);
  return writer.all_finite();
}

CRESCENT_AVX512 bool store_block(const Result& result) {
  BlockWriter writer(result);
  writer.write_rows(kBlock);
  return writer.all_finite();
}

CRESCENT_AMX void multiply_square(const LeftStrips& a, const RightStrips& b, int64_t steps,
                                  int64_t runs, float* c, bool add) {
  constexpr int64_t kSecondTile = kLines, kThirdTile = 2 * kLines * kLines,
                    kRowBytes = 2 * kLines * sizeof(float);
  const int64_t row_bytes = a.row_stride * static_cast<int64_t>(sizeof(uint16_t));
  begin_sums(c, kSecondTile, kThirdTile, kRowBytes, add);
  for_each_step(a, steps, runs, [&](int64_t a_offset, int64_t b_offset) CRESCENT_AMX_LAMBDA {
    _tile_loadd(4, a.strips[0] + a_offset, row_bytes);
    _tile_loadd(6, b.strips[0] + b_offset, 64);
    _tile_loadd(7, b.strips[1] + b_offset, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a.strips[1] + a_offset, row_bytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  });
  end_sums(c, kSecondTile, kThirdTile, kRowBytes);
}

CRESCENT_AMX void multiply_tall(const LeftStrips& a, const RightStrips& b, int64_t steps,
                                int64_t runs, float* c, bool add) {
  constexpr int64_t kSecondTile = kLines * kLines, kThirdTile = 2 * kSecondTile,
                    kRowBytes = kLines * sizeof(float);
  const int64_t row_bytes = a.row_stride * static_cast<int64_t>(sizeof(uint16_t));
  begin_sums(c, kSecondTile, kThirdTile, kRowBytes, add);
  for_each_step(a, steps, runs, [&](int64_t a_offset, int64_t b_offset) CRESCENT_AMX_LAMBDA {
    _tile_loadd(7, b.strips[0] + b_offset, 64);
    _tile_loadd(4, a.strips[0] + a_offset, row_bytes);
    _tile_dpbf16ps(0, 4, 7);
    _tile_loadd(5, a.strips[1] + a_offset, row_bytes);
    _tile_dpbf16ps(1, 5, 7);
    _tile_loadd(6, a.strips[2] + a_offset, row_bytes);
    _tile_dpbf16ps(2, 6, 7);
    _tile_loadd(4, a.strips[3] + a_offset, row_bytes);
    _tile_dpbf16ps(3, 4, 7);
  });
  end_sums(c, kSecondTile, kThirdTile, kRowBytes);
}

CRESCENT_AMX void multiply_wide(const LeftStrips& a, const RightStrips& b, int64_t steps,
                                int64_t runs, float* c, bool add) {
  constexpr int64_t kSecondTile = kLines, kThirdTile = 2 * kSecondTile,
                    kRowBytes = 4 * kLines * sizeof(float);
  const int64_t row_bytes = a.row_stride * static_cast<int64_t>(sizeof(uint16_t));
  begin_sums(c, kSecondTile, kThirdTile, kRowBytes, add);
  for_each_step(a, steps, runs, [&](int64_t a_offset, int64_t b_offset) CRESCENT_AMX_LAMBDA {
    _tile_loadd(7, a.strips[0] + a_offset, row_bytes);
    _tile_loadd(4, b.strips[0] + b_offset, 64);
    _tile_dpbf16ps(0, 7, 4);
    _tile_loadd(5, b.strips[1] + b_offset, 64);
    _tile_dpbf16ps(1, 7, 5);
    _tile_loadd(6, b.strips[2] + b_offset, 64);
    _tile_dpbf16ps(2, 7, 6);
    _tile_loadd(4, b.strips[3] + b_offset, 64);
    _tile_dpbf16ps(3, 7, 4);
  });
  end_sums(c, kSecondTile, kThirdTile, kRowBytes);
}

CRESCENT_AMX void configure() { _tile_loadconfig(&kWholeTiles); }
CRESCENT_AMX void release() { _tile_release(); }

}  // namespace

bool has_vectors() {
  static const bool has_instructions = processor_has_vectors();
  return has_instructions && (hwy::SupportedTargets() & HWY_AVX3) != 0;
}
bool has_tiles() {
  static const bool may_use_tiles = processor_has_tiles() && system_permits_tiles();
  return may_use_tiles && has_vectors();
}

Tiles::Tiles() {
  if (has_tiles()) configure();
}
Tiles::~Tiles() {
  if (has_tiles()) release();
}

void add_rows(const float* x, int64_t ld, int64_t rows, int64_t columns, float* sums) {
  add_rows_to(x, ld, rows, columns, sums);
}
bool all_finite(const uint16_t* values, int64_t count) { return are_finite(values, count); }

void multiply(Block block, const LeftStrips& a, const RightStrips& b, int64_t steps, int64_t runs,
              float* c, bool add) {
  if (!has_tiles()) return multiply_vectors(block, a, b, steps, runs, c, add);
  switch (block) {
    case Block::square:
      return multiply_square(a, b, steps, runs, c, add);
    case Block::tall:
      return multiply_tall(a, b, steps, runs, c, add);
    case Block::wide:
      return multiply_wide(a, b, steps, runs, c, add);
  }
}

bool multiply_split(const LeftStrips& a, const RightStrips& b, int64_t steps, const Result& result,
                    const Result& earlier) {
  return multiply_square_split(a, b, steps, result, earlier);
}
bool store(const Result& result) { return store_block(result); }

template <class T>
void store(const float* from, int64_t width, int64_t rows, int64_t columns, const float* bias,
           bool relu, T* to, int64_t ld) {
  store_rows(from, width, rows, columns, bias, relu, to, ld);
}

#else

bool has_vectors() { return false; }
bool has_tiles() { return false; }
Tiles::Tiles() = default;
Tiles::~Tiles() = default;
void multiply(Block, const LeftStrips&, const RightStrips&, int64_t, int64_t, float*, bool) {}
bool multiply_split(const LeftStrips&, const RightStrips&, int64_t, const Result&, const Result&) {
  return true;
}
bool store(const Result&) { return true; }
void add_rows(const float*, int64_t, int64_t, int64_t, float*) {}
bool all_finite(const uint16_t*, int64_t) { return true; }
template <class T>
void store(const float*, int64_t, int64_t, int64_t, const float*, bool, T*, int64_t) {}

#endif

template void store(const float*, int64_t, int64_t, int64_t, const float*, bool, uint16_t*,
                    int64_t);
template void store(const float*, int64_t, int64_t, int64_t, const float*, bool, float*, int64_t);

}  // namespace crescent::cpu::amx
