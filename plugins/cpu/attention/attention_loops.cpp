#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/attention_loops.cpp"
#include <hwy/foreach_target.h>

#include "kernel/mathematics-inl.h"
#include "kernel/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

/// A full vector of a row, which begins at element `offset`: each lane has an element.
template <class D>
struct WholeVector {
  D d;
  int64_t offset;
  template <class T>
  HWY_INLINE hn::Vec<D> load(const T* x) const {
    return HWY_NAMESPACE::load(d, x + offset);
  }
  template <class T>
  HWY_INLINE void store(hn::Vec<D> x, T* to) const {
    HWY_NAMESPACE::store(x, d, to + offset);
  }
  HWY_INLINE hn::Vec<D> or_else(hn::Vec<D> x, hn::Vec<D>) const { return x; }
};

/// The last `count` elements of a row, which are fewer than the lanes of a vector.
template <class D>
struct PartVector {
  D d;
  int64_t offset, count;
  template <class T>
  HWY_INLINE hn::Vec<D> load(const T* x) const {
    return load_part(d, x + offset, count);
  }
  template <class T>
  HWY_INLINE void store(hn::Vec<D> x, T* to) const {
    store_part(x, d, to + offset, count);
  }
  /// Returns x in the lanes that have an element, and `other` in the rest.
  HWY_INLINE hn::Vec<D> or_else(hn::Vec<D> x, hn::Vec<D> other) const {
    return hn::IfThenElse(hn::FirstN(d, count), x, other);
  }
};

/// Calls f for each vector of the elements [0, n).
template <class D, class F>
HWY_INLINE void for_each_vector(D d, int64_t n, F&& f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(WholeVector<D>{d, i});
  if (i < n) f(PartVector<D>{d, i, n - i});
}

/// A row of a tile: the query may attend to none of the keys from `visible_keys` on and, if
/// `allowed` is not null, to no key whose byte there is 0.
template <class S>
struct ScoreRow {
  // the score of masked keys; it depends on S, whose range it must not exceed
  static constexpr S kMasked = static_cast<S>(masked_score(DTypeOf<S>::value));

  ScoreRow(const ScoreTile<S>& tile, int64_t i)
      : x(tile.x + i * tile.keys),
        keys(tile.keys),
        visible_keys(std::clamp(tile.visible_keys + i * tile.visible_step, int64_t{0}, tile.keys)),
        scale(tile.scale) {
    if (!tile.mask.first) return;
    const uint8_t* bytes = tile.mask.first + i * tile.mask.query_stride;
    if (tile.mask.key_stride != 0)
      allowed = bytes;
    else if (*bytes == 0)
      visible_keys = 0;
  }
  /// Whether the query may attend to each key of a vector.
  template <class V, class D>
  HWY_INLINE hn::Mask<D> is_allowed(V v, D d) const {
    return hn::Ne(v.load(allowed), hn::Zero(d));
  }
  /// Calls f(vector, scores) for all keys before `visible_keys`.
  template <class F>
  HWY_INLINE void for_each_score(F&& f) const {
    const hn::ScalableTag<S> d;
    const auto factor = hn::Set(d, scale), masked = hn::Set(d, kMasked);
    if (allowed) {
      for_each_vector(d, visible_keys, [&](auto v) HWY_ATTR {
        f(v, hn::IfThenElse(is_allowed(v, d), hn::Mul(v.load(x), factor), masked));
      });
    } else {
      for_each_vector(d, visible_keys, [&](auto v) HWY_ATTR { f(v, hn::Mul(v.load(x), factor)); });
    }
  }

  S* x;
  const uint8_t* allowed = nullptr;
  int64_t keys, visible_keys;
  S scale;
};

/// Returns the maximum of the scores of a row; an arbitrary number if some are NaN.
template <class S>
HWY_INLINE S max_score(const ScoreRow<S>& row) {
  const hn::ScalableTag<S> d;
  auto maximum = hn::Set(d, row.visible_keys < row.keys ? row.kMasked : static_cast<S>(-INFINITY));
  row.for_each_score([&](auto v, auto score)
                         HWY_ATTR { maximum = hn::Max(maximum, v.or_else(score, maximum)); });
  return hn::GetLane(hn::MaxOfLanes(d, maximum));
}

/// e^(x - maximum) for a single number x.
template <class S>
HWY_INLINE S power_of(S x, S maximum) {
  const hn::ScalableTag<S> d;
  return hn::GetLane(exponential_of_negative(d, hn::Set(d, x - maximum)));
}

/// Replaces each product of a row by e^(score - maximum) and returns the sum.
template <class S>
HWY_INLINE S replace_by_exponentials(const ScoreRow<S>& row, S maximum) {
  const hn::ScalableTag<S> d;
  const auto shift = hn::Set(d, maximum);
  auto sum = hn::Zero(d);
  row.for_each_score([&](auto v, auto score) HWY_ATTR {
    const auto e = exponential_of_negative(d, hn::Sub(score, shift));
    v.store(e, row.x);
    sum = hn::Add(sum, v.or_else(e, hn::Zero(d)));
  });
  const S total = hn::GetLane(hn::SumOfLanes(d, sum));
  if (row.visible_keys == row.keys) return total;
  const S masked_weight = power_of(row.kMasked, maximum);
  std::fill(row.x + row.visible_keys, row.x + row.keys, masked_weight);
  return total + masked_weight * static_cast<S>(row.keys - row.visible_keys);
}

/// The number that is subtracted from scores with the maximum `maximum`: if all are -infinity, 0,
/// so that their exponentials are 0 and not NaN.
template <class S>
S shift_of(S maximum) {
  return maximum == static_cast<S>(-INFINITY) ? S{0} : maximum;
}

template <class S>
void multiply_row(S* x, int64_t n, S factor) {
  const hn::ScalableTag<S> d;
  const auto factors = hn::Set(d, factor);
  for_each_vector(d, n, [&](auto v) HWY_ATTR { v.store(hn::Mul(v.load(x), factors), x); });
}

/// Raises the maximum in the statistics of a row to `maximum`, if that is greater, and rescales the
/// sums that were computed with the earlier maximum.
template <class S>
void raise_maximum(S maximum, S* statistics, S* weighted_sums, int64_t columns) {
  const S old_maximum = statistics[0];
  if (!(maximum > old_maximum)) return;
  const S factor = power_of(old_maximum, maximum);
  statistics[0] = maximum, statistics[1] *= factor;
  multiply_row(weighted_sums, columns, factor);
}

template <class S>
void compute_exponentials(const ScoreTile<S>& tile, bool is_first, S* statistics, S* weighted_sums,
                          int64_t columns) {
  // First a loop for all maxima, then one for all exponentials, so that the processor can overlap
  // the maxima of different rows.
  for (int64_t i = 0; i < tile.rows; ++i) {
    const S maximum = max_score(ScoreRow<S>(tile, i));
    if (is_first)
      statistics[2 * i] = maximum, statistics[2 * i + 1] = 0;
    else
      raise_maximum(maximum, statistics + 2 * i, weighted_sums + i * columns, columns);
  }
  for (int64_t i = 0; i < tile.rows; ++i) {
    statistics[2 * i + 1] +=
        replace_by_exponentials(ScoreRow<S>(tile, i), shift_of(statistics[2 * i]));
  }
}

void find_kept(const WeightDraw& draw, int64_t first, int64_t n, uint8_t* is_kept) {
  constexpr int kBlocks = 32;
  constexpr int64_t kWords = 4 * kBlocks;
  HWY_ALIGN uint32_t words[kWords];
  int64_t skipped = first % 4;
  for (int64_t i = 0; i < n;) {
    philox_words<kBlocks>(draw.seed, draw.counter, static_cast<uint64_t>((first + i) / 4), words);
    const int64_t count = std::min(kWords - skipped, n - i);
    for (int64_t k = 0; k < count; ++k)
      is_kept[i + k] = static_cast<uint8_t>(words[skipped + k] >> 8 >= draw.min_fraction);
    i += count, skipped = 0;
  }
}

template <class S>
void drop_weights(const uint8_t* is_kept, int64_t n, S factor, S* x) {
  const hn::ScalableTag<S> d;
  const auto factors = hn::Set(d, factor);
  for_each_vector(d, n, [&](auto v) HWY_ATTR {
    v.store(hn::IfThenElseZero(hn::Ne(v.load(is_kept), hn::Zero(d)), hn::Mul(v.load(x), factors)),
            x);
  });
}

template <class T, class S = ComputeType<T>>
void divide(const S* x, const S* statistics, const StridedRows<T>& y) {
  const hn::ScalableTag<S> d;
  T* to = y.x;
  for (int64_t i = 0; i < y.rows; ++i, x += y.columns, to += y.ld) {
    const auto inverse_sum = hn::Set(d, statistics ? S{1} / statistics[2 * i + 1] : S{1});
    for_each_vector(d, y.columns,
                    [&](auto v) HWY_ATTR { v.store(hn::Mul(v.load(x), inverse_sum), to); });
  }
}

template <class S>
void add(const S* x, int64_t n, S* sum) {
  const hn::ScalableTag<S> d;
  for_each_vector(d, n, [&](auto v) HWY_ATTR { v.store(hn::Add(v.load(sum), v.load(x)), sum); });
}

template <class T, class S = ComputeType<T>>
void compute_dots(const StridedRows<const T>& x, const T* y, S* result) {
  const hn::ScalableTag<S> d;
  const T* from = x.x;
  for (int64_t i = 0; i < x.rows; ++i, from += x.ld, y += x.ld) {
    auto sum = hn::Zero(d);
    for_each_vector(d, x.columns,
                    [&](auto v) HWY_ATTR { sum = hn::MulAdd(v.load(from), v.load(y), sum); });
    result[i] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

/// The mean of the gradients of attention weights, weighted by these weights. `dot` is the sum of
/// the products of weights and gradients; `total` is the sum of the weights. The recomputed weights
/// have other rounding errors than in the forward pass. So `total` is only nearly 1, and `dot` is
/// divided by it, unless the difference from 1 is within the rounding error of the sum.
template <class S>
S mean_slope(S dot, S total) {
  const bool is_inexact = total > 0 && std::abs(total - 1) > 4 * std::numeric_limits<S>::epsilon();
  return is_inexact ? dot / total : dot;
}

/// Replaces the products of a row by weights and returns the mean of the gradients of the weights,
/// weighted by them.
template <class S>
HWY_INLINE S replace_products(const ScoreRow<S>& row, S maximum, S inverse, const S* dweights) {
  const hn::ScalableTag<S> d;
  const auto shift = hn::Set(d, maximum), inverse_sum = hn::Set(d, inverse);
  auto dot = hn::Zero(d), total = hn::Zero(d);
  row.for_each_score([&](auto v, auto score) HWY_ATTR {
    const auto w = hn::Mul(exponential_of_negative(d, hn::Sub(score, shift)), inverse_sum);
    v.store(w, row.x);
    dot = hn::Add(dot, v.or_else(hn::Mul(w, v.load(dweights)), hn::Zero(d)));
    total = hn::Add(total, v.or_else(w, hn::Zero(d)));
  });
  if (row.visible_keys < row.keys)
    std::fill(row.x + row.visible_keys, row.x + row.keys, power_of(row.kMasked, maximum) * inverse);
  return mean_slope(hn::GetLane(hn::SumOfLanes(d, dot)), hn::GetLane(hn::SumOfLanes(d, total)));
}

/// Replaces the gradients of the weights of a row by those of its products.
template <class S>
HWY_INLINE void replace_weight_gradients(const ScoreRow<S>& row, S mean, S* dweights) {
  const hn::ScalableTag<S> d;
  const auto mean_vector = hn::Set(d, mean), scale = hn::Set(d, row.scale);
  for_each_vector(d, row.visible_keys, [&](auto v) HWY_ATTR {
    const auto slope =
        hn::Mul(hn::Mul(v.load(row.x), hn::Sub(v.load(dweights), mean_vector)), scale);
    v.store(row.allowed ? hn::IfThenElseZero(row.is_allowed(v, d), slope) : slope, dweights);
  });
  if (row.visible_keys < row.keys)
    std::fill(dweights + row.visible_keys, dweights + row.keys, S{0});
}

template <class S>
void compute_gradient(const ScoreTile<S>& tile, const S* statistics, const S* means, S* dweights) {
  S row_means[kSliceRows];
  for (int64_t i = 0; i < tile.rows; ++i) {
    row_means[i] = replace_products(ScoreRow<S>(tile, i), statistics[2 * i],
                                    S{1} / statistics[2 * i + 1], dweights + i * tile.keys);
  }
  for (int64_t i = 0; i < tile.rows; ++i)
    replace_weight_gradients(ScoreRow<S>(tile, i), means ? means[i] : row_means[i],
                             dweights + i * tile.keys);
}

template <class T, class S = ComputeType<T>>
AttentionLoops<T> loops() {
  return {compute_exponentials<S>, find_kept,          drop_weights<S>, divide<T>, add<S>,
          compute_dots<T>,         compute_gradient<S>};
}
AttentionLoops<float> loops_float() { return loops<float>(); }
AttentionLoops<double> loops_double() { return loops<double>(); }
AttentionLoops<BFloat16> loops_bfloat16() { return loops<BFloat16>(); }

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(loops_float);
HWY_EXPORT(loops_double);
HWY_EXPORT(loops_bfloat16);

template <>
AttentionLoops<float> attention_loops<float>() {
  return HWY_DYNAMIC_DISPATCH(loops_float)();
}
template <>
AttentionLoops<double> attention_loops<double>() {
  return HWY_DYNAMIC_DISPATCH(loops_double)();
}
template <>
AttentionLoops<BFloat16> attention_loops<BFloat16>() {
  return HWY_DYNAMIC_DISPATCH(loops_bfloat16)();
}
}  // namespace crescent::cpu
#endif
