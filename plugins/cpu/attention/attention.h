// Loops of attention over tiles of scores, which run between the matrix products of a head.
#pragma once
#include <cstdint>

#include "crescent/program/op_types.h"
#include "kernel/half.h"

namespace crescent::cpu {

/// A mask of the keys to which a query may attend: the byte first[i * query_stride + j *
/// key_stride] is not 0 if query i may attend to key j. If `first` is null, queries attend to all
/// keys. `key_stride` is 0 or 1.
struct AttentionMask {
  const uint8_t* first = nullptr;
  int64_t query_stride = 0, key_stride = 0;
};

/// The row-major products q k' of some queries and some keys. Query i attends to none of the keys
/// from visible_keys + i * visible_step on; with visible_step 0 all queries have the same limit.
template <class S>
struct ScoreTile {
  int64_t rows, keys;
  S* x;
  S scale;
  AttentionMask mask;  ///< the mask for these queries and keys
  int64_t visible_keys, visible_step;

  /// The `count` rows from `first` on.
  ScoreTile slice_rows(int64_t first, int64_t count) const {
    AttentionMask mask_part = mask;
    if (mask_part.first) mask_part.first += first * mask_part.query_stride;
    return {count,       keys,      x + first * keys,
            scale,       mask_part, visible_keys + first * visible_step,
            visible_step};
  }
};

/// A draw of random numbers for dropout, which decides which attention weights stay and which
/// become 0. Element i of the draw belongs to weight i of all samples and heads, in row-major order
/// (random.cpp).
struct WeightDraw {
  int64_t seed, counter;
  uint32_t min_fraction;  ///< the 24 bits of a number's fraction from which on weights are kept
};

/// A row-major matrix whose rows are `ld` elements apart.
template <class T>
struct StridedRows {
  T* x;
  int64_t rows, columns, ld;
};

/// The largest number of rows of a tile in one call of a loop.
inline constexpr int64_t kSliceRows = 4;

/// The loops, compiled for the best instruction set of the machine. Scores and statistics have type
/// S, tensors type T. The score of a key is scale * x, where x is the product of the query and the
/// key, or masked_score if the query may not attend to the key.
template <class T, class S = ComputeType<T>>
struct AttentionLoops {
  /// Replaces each product x by e^(score - m), where m is the maximum of the scores of the row, and
  /// of the maximum in `statistics` unless this is the first tile of keys. The statistics (rows, 2)
  /// become m and the sum of the powers of all tiles so far; the sums of values in `mixed` (rows,
  /// columns), which belong to the earlier maximum, are multiplied by e^(earlier maximum - m).
  void (*exponentials)(const ScoreTile<S>& tile, bool is_first, S* statistics, S* mixed,
                       int64_t columns);
  /// Writes, for `n` elements of the draw from `first` on, 1 if dropout keeps their weights, 0 if
  /// it drops them.
  void (*find_kept)(const WeightDraw& draw, int64_t first, int64_t n, uint8_t* is_kept);
  /// Multiplies the elements of x for which `is_kept` is 1 by `factor`; the others become 0.
  void (*drop_weights)(const uint8_t* is_kept, int64_t n, S factor, S* x);
  /// Writes x, divided by the sum of its row from `statistics`, to y. Without statistics, x is only
  /// converted to T.
  void (*divide)(const S* x, const S* statistics, const StridedRows<T>& y);
  /// Adds n elements to `sum`.
  void (*add)(const S* x, int64_t n, S* sum);
  /// Writes the dot product of each row of x with the same row of y.
  void (*row_dots)(const StridedRows<const T>& x, const T* y, S* result);
  /// Replaces each product x by its weight w = e^(score - maximum) / sum, with the maximum and sum
  /// of its row from `statistics`, and the gradient dw of the weight by that of x: scale w (dw -
  /// mean), or 0 for masked scores. `means` has, for each row, the mean of dw weighted by w. If it
  /// is null, the tile has all keys, and the function computes the means.
  void (*gradient)(const ScoreTile<S>& tile, const S* statistics, const S* means, S* dweights);
};

template <class T>
AttentionLoops<T> attention_loops();
template <>
AttentionLoops<float> attention_loops<float>();
template <>
AttentionLoops<double> attention_loops<double>();
template <>
AttentionLoops<BFloat16> attention_loops<BFloat16>();

}  // namespace crescent::cpu
