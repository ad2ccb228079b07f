// Loops of attention over rows (rows, keys) of scores, row-major, between the products of a head.
#pragma once
#include <cstdint>

#include "crescent/program/op_types.h"
#include "kernel/half.h"

namespace crescent::cpu {

/// Which keys a query may look at, in bytes: for query i and key j at first[i * query + j * key].
/// No first: all.
struct AttentionMask {
  const uint8_t* first = nullptr;
  int64_t query = 0, key = 0;
};

template <class S>
struct Scores {
  int64_t rows, keys;
  S* x;
  S scale;
  AttentionMask mask;  ///< of these rows
};

/// The loops for the machine at hand. Scores and statistics are of type S, what lies in memory of
/// type T.
template <class T, class S = Computed<T>>
struct AttentionLoops {
  /// x = e^(scale x - top of its row), masked ones with masked_score in place of scale x;
  /// statistics (rows, 2): top and sum of the row. May use `masked`, of `keys`.
  void (*exponentials)(const Scores<S>& scores, S* statistics, S* masked);
  /// The same from the statistics, and divided by the sum.
  void (*weights)(const Scores<S>& scores, const S* statistics, S* masked);
  /// y (rows, columns), ld apart = x / sum of the row, or x where there are no statistics.
  void (*divide)(const S* x, int64_t rows, int64_t columns, const S* statistics, T* y, int64_t ld);
  /// dweights -> gradient of what was scaled: scale w (dw - sum of w dw), 0 of masked scores.
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
