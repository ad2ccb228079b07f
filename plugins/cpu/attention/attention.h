// Loops of attention over row-major scores (rows, keys), which run between the matrix products of a
// head.
#pragma once
#include <cstdint>

#include "crescent/program/op_types.h"
#include "kernel/half.h"

namespace crescent::cpu {

/// A mask of the keys to which a query may attend: the byte first[i * query + j * key] is not 0 if
/// query i may attend to key j. If `first` is null, queries attend to all keys.
struct AttentionMask {
  const uint8_t* first = nullptr;
  int64_t query = 0, key = 0;
};

template <class S>
struct Scores {
  int64_t rows, keys;
  S* x;
  S scale;
  AttentionMask mask;  ///< the mask for the rows of these scores
};

/// The loops, compiled for the best instruction set of the machine. Scores and statistics have type
/// S, tensors type T.
template <class T, class S = Computed<T>>
struct AttentionLoops {
  /// Replaces each score x by e^(scale x - maximum of its row); masked scores count as masked_score
  /// instead of scale x. `statistics` (rows, 2) receive the maximum and the sum of each row.
  /// `masked` is scratch memory for `keys` values.
  void (*exponentials)(const Scores<S>& scores, S* statistics, S* masked);
  /// Replaces each score x by its weight e^(scale x - maximum) / sum, with the maximum and sum of
  /// its row from `statistics`.
  void (*weights)(const Scores<S>& scores, const S* statistics, S* masked);
  /// Writes x, divided by the sum of its row from `statistics`, to y (rows, columns), whose rows
  /// are `ld` elements apart. Without statistics, x is only converted to T.
  void (*divide)(const S* x, int64_t rows, int64_t columns, const S* statistics, T* y, int64_t ld);
  /// Converts the gradient of the weights w in place to the gradient of the unscaled scores: scale
  /// w (dw - sum of w dw), and 0 for masked scores.
  void (*gradient)(const Scores<S>& weights, S* dweights);
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
