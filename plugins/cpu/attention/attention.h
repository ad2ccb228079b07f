// Loops of attention on row-major scores (rows, keys), between the products of a head.
#pragma once
#include <cstdint>

#include "crescent/program/op_types.h"
#include "kernel/half.h"

namespace crescent::cpu {

/// Which keys a query may attend to, as bytes: query i and key j at first[i * query + j * key].
/// Where `first` is null, all keys.
struct AttentionMask {
  const uint8_t* first = nullptr;
  int64_t query = 0, key = 0;
};

template <class S>
struct Scores {
  int64_t rows, keys;
  S* x;
  S scale;
  AttentionMask mask;  ///< the mask of these rows
};

/// The loops for the best instruction set of the machine. Scores and statistics have type S,
/// tensors type T.
template <class T, class S = Computed<T>>
struct AttentionLoops {
  /// x = e^(scale x - maximum of its row), where masked scores are masked_score instead of scale x;
  /// statistics (rows, 2) get the maximum and the sum of each row. `masked` is scratch memory for
  /// `keys` values.
  void (*exponentials)(const Scores<S>& scores, S* statistics, S* masked);
  /// x = e^(scale x - maximum) / sum of its row, with maximum and sum from the statistics.
  void (*weights)(const Scores<S>& scores, const S* statistics, S* masked);
  /// y (rows, columns), rows `ld` apart, = x / sum of its row, or x where statistics are null.
  void (*divide)(const S* x, int64_t rows, int64_t columns, const S* statistics, T* y, int64_t ld);
  /// Turns the gradient of the weights into that of the unscaled scores: scale w (dw - sum of w
  /// dw), and 0 for masked scores.
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
