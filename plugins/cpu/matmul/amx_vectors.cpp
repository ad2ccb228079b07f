// Products of strips on processors that multiply pairs of bfloat16 values in AVX-512 vectors but
// have no tiles. A vector of b holds a pair for each column, as packed for tiles; the pairs of a
// are broadcast.
#include "matmul/amx_vectors.h"

#ifdef __x86_64__
#include <cstring>

#include "matmul/amx-inl.h"
#endif

namespace crescent::cpu::amx {

#ifdef __x86_64__

namespace {

/// Multiplies kRows rows of a strip of a, whose first row is at `a`, by kStrips strips of b and
/// writes the sums to c, whose rows are `ld` apart.
template <int kRows, int kStrips>
CRESCENT_AVX512 void multiply_rows(const uint16_t* a, const LeftStrips& left,
                                   const RightStrips& right, int64_t steps, int64_t runs, float* c,
                                   int64_t ld, bool add) {
  __m512 sums[kRows][kStrips];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int s = 0; s < kStrips; ++s)
      sums[r][s] = add ? _mm512_loadu_ps(c + r * ld + s * kLines) : _mm512_setzero_ps();
  int64_t b = 0;
  for (int64_t run = 0; run < runs; ++run) {
    const uint16_t* step_values = a + run * left.run_stride;
    for (int64_t step = 0; step < steps; ++step, step_values += left.step_stride) {
      for (int64_t k = 0; k < kDepth; k += 2, b += 2 * kLines) {
        __m512bh columns[kStrips];
#pragma GCC unroll 4
        for (int s = 0; s < kStrips; ++s)
          columns[s] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right.strips[s] + b));
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          int pair;
          std::memcpy(&pair, step_values + k + r * left.row_stride, sizeof(pair));
          const auto row = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
#pragma GCC unroll 4
          for (int s = 0; s < kStrips; ++s)
            sums[r][s] = _mm512_dpbf16_ps(sums[r][s], row, columns[s]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int s = 0; s < kStrips; ++s) _mm512_storeu_ps(c + r * ld + s * kLines, sums[r][s]);
}

/// Multiplies the first kRight strips of b, kRows rows of a at a time. A strip of a that is the
/// same as the one before it is left out.
template <int kLeft, int kRight, int kRows>
void multiply_block(const LeftStrips& left, const RightStrips& right, int64_t steps, int64_t runs,
                    float* c, int64_t ld, bool add) {
  for (int64_t s = 0; s < kLeft && (s == 0 || left.strips[s] != left.strips[s - 1]); ++s) {
    for (int64_t row = 0; row < kLines; row += kRows)
      multiply_rows<kRows, kRight>(left.strips[s] + row * left.row_stride, left, right, steps, runs,
                                   c + (s * kLines + row) * ld, ld, add);
  }
}

}  // namespace

void multiply_vectors(Block block, const LeftStrips& a, const RightStrips& b, int64_t steps,
                      int64_t runs, float* c, bool add) {
  const int64_t ld = right_strips(block) * kLines;
  switch (block) {
    case Block::square:
      return b.strips[0] == b.strips[1] ? multiply_block<2, 1, 16>(a, b, steps, runs, c, ld, add)
                                        : multiply_block<2, 2, 8>(a, b, steps, runs, c, ld, add);
    case Block::tall:
      return multiply_block<4, 1, 16>(a, b, steps, runs, c, ld, add);
    case Block::wide:
      return multiply_block<1, 4, 4>(a, b, steps, runs, c, ld, add);
  }
}

#else

void multiply_vectors(Block, const LeftStrips&, const RightStrips&, int64_t, int64_t, float*,
                      bool) {}

#endif

}  // namespace crescent::cpu::amx
