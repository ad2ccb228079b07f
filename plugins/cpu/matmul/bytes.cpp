#include "matmul/bytes.h"

#include <algorithm>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
// GCC 12 emits this warning for its own header immintrin.h
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace crescent::cpu::bytes {
namespace {

/// The operands and results of a product, as the code for every instruction set reads them.
struct Operands {
  LeftMatrix a;
  int64_t rows;
  const int8_t* b;
  Depth depth;
  int64_t columns;
  Sums c;

  const int32_t* corrections(int64_t panel) const {
    return reinterpret_cast<const int32_t*>(b + panel * panel_bytes(depth));
  }
  const int8_t* values(int64_t panel) const {
    return b + panel * panel_bytes(depth) + kPanelColumns * static_cast<int64_t>(sizeof(int32_t));
  }
  int64_t width(int64_t panel) const {
    return std::min(kPanelColumns, columns - panel * kPanelColumns);
  }
  int32_t* result(int64_t i, int64_t panel) const {
    return c.values + i * c.stride + panel * kPanelColumns;
  }
  const float* factors(int64_t panel) const {
    return c.factors ? c.factors + panel * kPanelColumns : nullptr;
  }
};

/// Stores the sums of row i in a panel.
void store(const Operands& o, int64_t i, int64_t panel, const int32_t* sums) {
  const int64_t width = o.width(panel);
  const size_t bytes = static_cast<size_t>(width) * sizeof *sums;
  const float* factors = o.factors(panel);
  if (!factors) {
    std::memcpy(o.result(i, panel), sums, bytes);
    return;
  }
  float scaled_sums[kPanelColumns];
  for (int64_t j = 0; j < width; ++j) scaled_sums[j] = static_cast<float>(sums[j]) * factors[j];
  std::memcpy(o.result(i, panel), scaled_sums, bytes);
}

int32_t load_group(const uint8_t* from) {
  int32_t group;
  std::memcpy(&group, from, sizeof group);
  return group;
}

void multiply_plain(const LeftMatrix& a, int64_t rows, const int8_t* b, Depth depth,
                    int64_t columns, const Sums& c) {
  const Operands o{a, rows, b, depth, columns, c};
  for (int64_t panel = 0; panel < panel_count(columns); ++panel)
    for (int64_t i = 0; i < rows; ++i) {
      // The sums are unsigned, because unsigned integers wrap around on overflow.
      uint32_t sums[kPanelColumns];
      for (int64_t j = 0; j < kPanelColumns; ++j)
        sums[j] = 0u - static_cast<uint32_t>(o.corrections(panel)[j]);
      const int8_t* right = o.values(panel);
      for (int64_t run = 0; run < depth.runs; ++run)
        for (int64_t q = 0; q < depth.groups_of_run() * kGroup; ++q) {
          const int left = a.row(i)[a.runs[run] + q];
          for (int64_t j = 0; j < kPanelColumns; ++j)
            sums[j] += static_cast<uint32_t>(left * right[j * kGroup + q % kGroup]);
          if (q % kGroup == kGroup - 1) right += kGroup * kPanelColumns;
        }
      int32_t results[kPanelColumns];
      std::memcpy(results, sums, sizeof sums);
      store(o, i, panel, results);
    }
}

#ifdef __x86_64__

#define CRESCENT_VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define CRESCENT_AVX2 __attribute__((target("avx2")))

/// Adds the products of each four bytes to a sum. With the intrinsic, GCC 12 copies the sums in
/// every step.
CRESCENT_VNNI inline __attribute__((always_inline)) void add_products(__m512i& sums, __m512i left,
                                                                      __m512i right) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(left), "v"(right));
}

/// Computes kRows rows from i on of kPanels panels from `panel` on.
template <int kRows, int kPanels>
CRESCENT_VNNI inline void multiply_vnni_block(const Operands& o, int64_t i, int64_t panel) {
  __m512i sums[kRows][kPanels];
  const uint8_t* a[kRows];
  const int8_t* b[kPanels];
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) b[p] = o.values(panel + p);
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    a[r] = o.a.row(i + r);
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) sums[r][p] = _mm512_setzero_si512();
  }
  int64_t panel_offset = 0;  // the position in the panels
  for (int64_t run = 0; run < o.depth.runs; ++run) {
    const int64_t first = o.a.runs[run], end = first + o.depth.groups_of_run() * kGroup;
    for (int64_t q = first; q < end; q += kGroup, panel_offset += kGroup * kPanelColumns) {
      __m512i right[kPanels];
#pragma GCC unroll 8
      for (int p = 0; p < kPanels; ++p) right[p] = _mm512_loadu_si512(b[p] + panel_offset);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const __m512i left = _mm512_set1_epi32(load_group(a[r] + q));
#pragma GCC unroll 8
        for (int p = 0; p < kPanels; ++p) add_products(sums[r][p], left, right[p]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
    const auto mask = static_cast<__mmask16>((1u << o.width(panel + p)) - 1);
    const __m512i correction = _mm512_loadu_si512(o.corrections(panel + p));
    const float* factors = o.factors(panel + p);
    const __m512 factor = factors ? _mm512_maskz_loadu_ps(mask, factors) : _mm512_setzero_ps();
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const __m512i sum = _mm512_sub_epi32(sums[r][p], correction);
      const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), factor);
      _mm512_mask_storeu_epi32(o.result(i + r, panel + p), mask,
                               factors ? _mm512_castps_si512(scaled) : sum);
    }
  }
}

/// Computes kPanels panels from `panel` on for the rows from i on, kRows rows at a time and then
/// fewer. For each sum there is a register; with fewer than ten sums, instructions wait for each
/// other.
template <int kRows, int kPanels>
CRESCENT_VNNI inline void multiply_vnni_rows(const Operands& o, int64_t i, int64_t panel) {
  for (; i + kRows <= o.rows; i += kRows) multiply_vnni_block<kRows, kPanels>(o, i, panel);
  if constexpr (kRows > 1) multiply_vnni_rows<kRows / 2, kPanels>(o, i, panel);
}

CRESCENT_VNNI void multiply_vnni(const LeftMatrix& a, int64_t rows, const int8_t* b, Depth depth,
                                 int64_t columns, const Sums& c) {
  constexpr int64_t kFewRows = 3;
  const Operands o{a, rows, b, depth, columns, c};
  const int64_t count = panel_count(columns);
  int64_t panel = 0;
  if (rows <= kFewRows)
    for (; panel + 8 <= count; panel += 8) multiply_vnni_rows<2, 8>(o, 0, panel);
  for (; panel + 4 <= count; panel += 4) multiply_vnni_rows<6, 4>(o, 0, panel);
  for (; panel + 2 <= count; panel += 2) multiply_vnni_rows<12, 2>(o, 0, panel);
  if (panel < count) multiply_vnni_rows<12, 1>(o, 0, panel);
}

/// Bytes 0 and 2, or 1 and 3, of each four signed bytes as two integers of 16 bits.
CRESCENT_AVX2 inline __m256i even_signed(__m256i x) {
  return _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8);
}
CRESCENT_AVX2 inline __m256i odd_signed(__m256i x) { return _mm256_srai_epi16(x, 8); }

template <int kRows>
CRESCENT_AVX2 inline void multiply_avx2_block(const Operands& o, int64_t i, int64_t panel) {
  constexpr int kHalves = 2;  // vectors of eight columns in a panel
  __m256i sums[kRows][kHalves];
  const uint8_t* a[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    a[r] = o.a.row(i + r);
    for (int h = 0; h < kHalves; ++h) sums[r][h] = _mm256_setzero_si256();
  }
  const int8_t* b = o.values(panel);
  for (int64_t run = 0; run < o.depth.runs; ++run) {
    const int64_t first = o.a.runs[run], end = first + o.depth.groups_of_run() * kGroup;
    for (int64_t q = first; q < end; q += kGroup, b += kGroup * kPanelColumns) {
      __m256i even[kHalves], odd[kHalves];
#pragma GCC unroll 2
      for (int h = 0; h < kHalves; ++h) {
        const __m256i right = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b) + h);
        even[h] = even_signed(right), odd[h] = odd_signed(right);
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const __m256i left = _mm256_set1_epi32(load_group(a[r] + q)),
                      left_even = _mm256_and_si256(left, _mm256_set1_epi16(0xff)),
                      left_odd = _mm256_srli_epi16(left, 8);
#pragma GCC unroll 2
        for (int h = 0; h < kHalves; ++h)
          sums[r][h] =
              _mm256_add_epi32(sums[r][h], _mm256_add_epi32(_mm256_madd_epi16(left_even, even[h]),
                                                            _mm256_madd_epi16(left_odd, odd[h])));
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    int32_t results[kPanelColumns];
    for (int h = 0; h < kHalves; ++h) {
      const __m256i correction =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(o.corrections(panel)) + h);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(results) + h,
                          _mm256_sub_epi32(sums[r][h], correction));
    }
    store(o, i + r, panel, results);
  }
}

CRESCENT_AVX2 void multiply_avx2(const LeftMatrix& a, int64_t rows, const int8_t* b, Depth depth,
                                 int64_t columns, const Sums& c) {
  const Operands o{a, rows, b, depth, columns, c};
  for (int64_t panel = 0; panel < panel_count(columns); ++panel) {
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4) multiply_avx2_block<4>(o, i, panel);
    for (; i < rows; ++i) multiply_avx2_block<1>(o, i, panel);
  }
}

#endif

}  // namespace

void pack_row(const int8_t* row, int64_t step, int64_t k, uint8_t* to) {
  for (int64_t q = 0; q < k; ++q) to[q] = static_cast<uint8_t>(row[q * step] + kOffset);
  std::fill(to + k, to + Depth{k}.padded(), uint8_t{0});
}

void pack_panel(const int8_t* b, int64_t row_step, int64_t column_step, Depth depth,
                int64_t columns, int8_t* to) {
  int32_t sums[kPanelColumns] = {};
  int8_t* values = to + sizeof sums;
  std::fill_n(values, kPanelColumns * depth.padded(), int8_t{0});
  for (int64_t run = 0; run < depth.runs; ++run)
    for (int64_t q = 0; q < depth.length; ++q) {
      int8_t* group =
          values + (run * depth.groups_of_run() + q / kGroup) * kGroup * kPanelColumns + q % kGroup;
      for (int64_t j = 0; j < columns; ++j) {
        const int8_t value = b[(run * depth.length + q) * row_step + j * column_step];
        group[j * kGroup] = value;
        sums[j] += value;
      }
    }
  for (int32_t& sum : sums) sum = static_cast<int32_t>(static_cast<uint32_t>(sum) * kOffset);
  std::memcpy(to, sums, sizeof sums);
}

bool processor_has(Instructions instructions) {
#ifdef __x86_64__
  if (instructions == Instructions::vnni)
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
  if (instructions == Instructions::avx2) return __builtin_cpu_supports("avx2");
#endif
  return instructions == Instructions::plain;
}

Multiply product_with(Instructions instructions) {
#ifdef __x86_64__
  if (instructions == Instructions::vnni) return multiply_vnni;
  if (instructions == Instructions::avx2) return multiply_avx2;
#endif
  return multiply_plain;
}

namespace {

Instructions fastest() {
  for (Instructions candidate : {Instructions::vnni, Instructions::avx2})
    if (processor_has(candidate)) return candidate;
  return Instructions::plain;
}

}  // namespace

Multiply fastest_product() { return product_with(fastest()); }

const char* name_of_fastest() {
  constexpr const char* kNames[] = {"bytes", "bytes avx2", "bytes vnni"};
  return kNames[static_cast<int>(fastest())];
}

}  // namespace crescent::cpu::bytes
