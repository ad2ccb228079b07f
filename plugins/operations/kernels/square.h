// Transposition of 8 x 8 elements of 32 bits in eight vectors.
#pragma once
#include "clones.h"

namespace crescent::operations {

/// Transposes in place, in three rounds. Each round moves the highest bit of the row index to the
/// end of the column index.
template <class Vector>
CRESCENT_IN_CLONES void transpose_square(Vector* rows) {
  constexpr int kSide = 8;
  for (int round = 0; round < 3; ++round) {
    Vector next[kSide];
    for (int i = 0; i < kSide / 2; ++i) {
      const Vector a = rows[i], b = rows[i + kSide / 2];
      next[2 * i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < kSide; ++i) rows[i] = next[i];
  }
}

}  // namespace crescent::operations
