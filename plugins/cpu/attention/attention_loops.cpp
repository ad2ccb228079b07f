#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/attention_loops.cpp"
#include <hwy/foreach_target.h>

#include "kernel/mathematics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

/// Returns, for each key of row i, masked_score() if the key is masked, else 0; null if there is no
/// mask.
template <class S>
const S* masked_scores(const Scores<S>& scores, int64_t i, S* masked) {
  const AttentionMask& mask = scores.mask;
  if (!mask.first) return nullptr;
  // the score of masked keys that type S can represent
  constexpr double kMasked = masked_score(DTypeOf<S>::value);
  const uint8_t* allowed = mask.first + i * mask.query;
  for (int64_t j = 0; j < scores.keys; ++j)
    masked[j] = allowed[j * mask.key] ? S{0} : static_cast<S>(kMasked);
  return masked;
}

/// A vector of scores: scale x, or masked_score for masked keys.
template <class D, class Load, class S>
HWY_INLINE hn::Vec<D> scores_of(D d, Load load, const S* x, hn::Vec<D> scale, const S* masked) {
  const auto y = hn::Mul(load(x), scale);
  if (!masked) return y;
  const auto other = load(masked);
  return hn::IfThenElse(hn::Eq(other, hn::Zero(d)), y, other);
}

/// Replaces each x of a row by its score and returns the maximum, or NaN if a score is NaN.
template <class S>
HWY_INLINE S scaled(const Scores<S>& scores, S* x, const S* masked) {
  const hn::ScalableTag<S> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole = scores.keys / lanes * lanes;
  const auto scale = hn::Set(d, scores.scale);
  auto shift = [&](int64_t j, auto load) HWY_ATTR {
    return scores_of(d, load, x + j, scale, masked ? masked + j : nullptr);
  };
  auto top = hn::Set(d, static_cast<S>(-INFINITY));
  for (int64_t j = 0; j < whole; j += lanes) {
    const auto y = shift(j, [&](const S* p) HWY_ATTR { return hn::LoadU(d, p); });
    hn::StoreU(y, d, x + j);
    top = hn::Max(top, y);
  }
  if (const int64_t rest = scores.keys - whole; rest > 0) {
    const auto y = shift(whole, [&](const S* p) HWY_ATTR { return load_part(d, p, rest); });
    store_part(y, d, x + whole, rest);
    top = hn::Max(top, hn::IfThenElse(hn::FirstN(d, rest), y, top));
  }
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

/// Replaces each x of a row by e^(x - top) and returns the sum.
template <class S>
HWY_INLINE S exponentials_of_row(S* x, int64_t n, S top) {
  const hn::ScalableTag<S> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole = n / lanes * lanes;
  const auto shift = hn::Set(d, top);
  auto sum = hn::Zero(d);
  for (int64_t j = 0; j < whole; j += lanes) {
    const auto e = exponential_of_negative(d, hn::Sub(hn::LoadU(d, x + j), shift));
    hn::StoreU(e, d, x + j);
    sum = hn::Add(sum, e);
  }
  if (const int64_t rest = n - whole; rest > 0) {
    const auto e = exponential_of_negative(d, hn::Sub(load_part(d, x + whole, rest), shift));
    store_part(e, d, x + whole, rest);
    sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, rest), e));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <class S>
void exponentials(const Scores<S>& scores, S* statistics, S* masked) {
  // First a loop for all maxima, then one for all powers, so that the processor can overlap the
  // maxima of different rows.
  for (int64_t i = 0; i < scores.rows; ++i) {
    statistics[2 * i] =
        scaled(scores, scores.x + i * scores.keys, masked_scores(scores, i, masked));
  }
  for (int64_t i = 0; i < scores.rows; ++i) {
    statistics[2 * i + 1] =
        exponentials_of_row(scores.x + i * scores.keys, scores.keys, statistics[2 * i]);
  }
}

template <class S>
void weights(const Scores<S>& scores, const S* statistics, S* masked) {
  const hn::ScalableTag<S> d;
  const auto scale = hn::Set(d, scores.scale);
  for (int64_t i = 0; i < scores.rows; ++i, statistics += 2) {
    S* x = scores.x + i * scores.keys;
    const S* other = masked_scores(scores, i, masked);
    const auto top = hn::Set(d, statistics[0]), share = hn::Set(d, S{1} / statistics[1]);
    for_vectors(d, scores.keys, [&](auto load, auto store) HWY_ATTR {
      const auto y = scores_of(d, load, x, scale, other);
      store(hn::Mul(exponential_of_negative(d, hn::Sub(y, top)), share), x);
    });
  }
}

template <class T, class S = Computed<T>>
void divide(const S* x, int64_t rows, int64_t columns, const S* statistics, T* y, int64_t ld) {
  const hn::ScalableTag<S> d;
  for (int64_t i = 0; i < rows; ++i, x += columns, y += ld) {
    const auto share = hn::Set(d, statistics ? S{1} / statistics[2 * i + 1] : S{1});
    for_vectors(d, columns,
                [&](auto load, auto store) HWY_ATTR { store(hn::Mul(load(x), share), y); });
  }
}

/// True when all keys of row i are masked.
template <class S>
bool is_masked(const Scores<S>& scores, int64_t i) {
  const AttentionMask& mask = scores.mask;
  if (!mask.first) return false;
  const uint8_t* allowed = mask.first + i * mask.query;
  for (int64_t j = 0; j < scores.keys; ++j)
    if (allowed[j * mask.key]) return false;
  return true;
}

/// The mean of slopes weighted by attention weights with the sum `total`. The weights are
/// recomputed with other roundings than in the forward pass, so their sum is only nearly 1 and the
/// mean is divided by it; a difference from 1 within the rounding error of the sum is ignored.
template <class S>
S mean_slope(S dot, S total) {
  return std::abs(total - 1) > 4 * std::numeric_limits<S>::epsilon() ? dot / total : dot;
}

template <class S>
void gradient(const Scores<S>& weights, S* dweights) {
  const hn::ScalableTag<S> d;
  const auto scale = hn::Set(d, weights.scale);
  for (int64_t i = 0; i < weights.rows; ++i, dweights += weights.keys) {
    if (is_masked(weights, i)) {
      std::fill_n(dweights, weights.keys, S{0});
      continue;
    }
    const S* w = weights.x + i * weights.keys;
    auto dot = hn::Zero(d), total = hn::Zero(d);
    for_vectors(d, weights.keys, [&](auto load, auto) HWY_ATTR {
      dot = hn::MulAdd(load(w), load(dweights), dot);
      total = hn::Add(total, load(w));
    });
    const auto mean = hn::Set(
        d, mean_slope(hn::GetLane(hn::SumOfLanes(d, dot)), hn::GetLane(hn::SumOfLanes(d, total))));
    for_vectors(d, weights.keys, [&](auto load, auto store) HWY_ATTR {
      store(hn::Mul(hn::Mul(load(w), hn::Sub(load(dweights), mean)), scale), dweights);
    });
  }
}

template <class T, class S = Computed<T>>
AttentionLoops<T> loops() {
  return {exponentials<S>, weights<S>, divide<T>, gradient<S>};
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
