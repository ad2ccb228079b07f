#include <algorithm>
#include <cmath>
#include <type_traits>

#include "normalization/normalization.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "normalization/normalization_loops.cpp"
#include <hwy/foreach_target.h>

#include "kernel/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class S = ComputeType<T>>
void compute_moments(const RowBlock<T>& block, S* mean, S* squared_deviation_sum) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  const hn::ScalableTag<S> d;
  using V = hn::Vec<decltype(d)>;
  const V inverse_count = hn::Set(d, S{1} / static_cast<S>(rows));
  const int64_t distance = prefetch_distance<T>(columns);
  for_columns(d, columns, [&](auto n, auto load, auto store, auto fetch) HWY_ATTR {
    V sum[n][2], center[n];
    for (int v = 0; v < n; ++v) sum[v][0] = sum[v][1] = hn::Zero(d);
    int64_t r = 0;
    for (; r + 2 <= rows; r += 2) {
      for (int v = 0; v < n; ++v) {
        fetch(x + distance + r * columns, v), fetch(x + distance + (r + 1) * columns, v);
        sum[v][0] = hn::Add(sum[v][0], load(x + r * columns, v)),
        sum[v][1] = hn::Add(sum[v][1], load(x + (r + 1) * columns, v));
      }
    }
    for (int v = 0; v < n; ++v) {
      if (r < rows) sum[v][0] = hn::Add(sum[v][0], load(x + r * columns, v));
      center[v] = hn::Mul(hn::Add(sum[v][0], sum[v][1]), inverse_count);
      sum[v][0] = sum[v][1] = hn::Zero(d);
    }
    for (r = 0; r + 2 <= rows; r += 2) {
      for (int v = 0; v < n; ++v) {
        const V a = hn::Sub(load(x + r * columns, v), center[v]),
                b = hn::Sub(load(x + (r + 1) * columns, v), center[v]);
        sum[v][0] = hn::MulAdd(a, a, sum[v][0]), sum[v][1] = hn::MulAdd(b, b, sum[v][1]);
      }
    }
    for (int v = 0; v < n; ++v) {
      const V a = r < rows ? hn::Sub(load(x + r * columns, v), center[v]) : hn::Zero(d);
      store(center[v], mean, v),
          store(hn::MulAdd(a, a, hn::Add(sum[v][0], sum[v][1])), squared_deviation_sum, v);
    }
  });
}

template <class T, class S = ComputeType<T>>
void normalize(const RowBlock<T>& block, const S* mean, const S* scale, const S* shift, T* y) {
  const T* x = block.x;
  const int64_t columns = block.columns;
  const hn::ScalableTag<S> d;
  using V = hn::Vec<decltype(d)>;
  auto compute_rows = [&](int64_t r, int64_t last, auto n, auto load, auto store) HWY_ATTR {
    V center[n], factor[n], offset[n];
    for (int v = 0; v < n; ++v)
      center[v] = load(mean, v), factor[v] = load(scale, v), offset[v] = load(shift, v);
    for (; r < last; ++r) {
      for (int v = 0; v < n; ++v) {
        store(hn::MulAdd(hn::Sub(load(x + r * columns, v), center[v]), factor[v], offset[v]),
              y + r * columns, v);
      }
    }
  };
  for_rows(d, block.rows, columns, compute_rows);
}

template <class T, class S = ComputeType<T>>
void sum_products(const RowBlock<T>& block, const T* dy, const S* mean, S* sum, S* product) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  const hn::ScalableTag<S> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t distance = prefetch_distance<T>(columns);
  for_columns(d, columns, [&](auto n, auto load, auto store, auto fetch) HWY_ATTR {
    V center[n], total[n], dot[n];
    for (int v = 0; v < n; ++v) center[v] = load(mean, v), total[v] = dot[v] = hn::Zero(d);
    for (int64_t r = 0; r < rows; ++r) {
      for (int v = 0; v < n; ++v) {
        fetch(x + distance + r * columns, v), fetch(dy + distance + r * columns, v);
        const V g = load(dy + r * columns, v);
        total[v] = hn::Add(total[v], g),
        dot[v] = hn::MulAdd(g, hn::Sub(load(x + r * columns, v), center[v]), dot[v]);
      }
    }
    for (int v = 0; v < n; ++v) store(total[v], sum, v), store(dot[v], product, v);
  });
}

template <class T, class S = ComputeType<T>>
void compute_gradient(const RowBlock<T>& block, const T* dy, const S* mean, const S* scale,
                      const S* slope, const S* offset, T* dx) {
  const T* x = block.x;
  const int64_t columns = block.columns;
  const hn::ScalableTag<S> d;
  using V = hn::Vec<decltype(d)>;
  auto compute_rows = [&](int64_t r, int64_t last, auto n, auto load, auto store) HWY_ATTR {
    V center[n], factor[n], slopes[n], offsets[n];
    for (int v = 0; v < n; ++v)
      center[v] = load(mean, v), factor[v] = load(scale, v), slopes[v] = load(slope, v),
      offsets[v] = load(offset, v);
    for (; r < last; ++r) {
      for (int v = 0; v < n; ++v) {
        const V subtracted =
            hn::MulAdd(hn::Sub(load(x + r * columns, v), center[v]), slopes[v], offsets[v]);
        store(hn::MulSub(factor[v], load(dy + r * columns, v), subtracted), dx + r * columns, v);
      }
    }
  };
  for_rows(d, block.rows, columns, compute_rows);
}

/// Prefetches a row some rows ahead, because a row of a few cache lines ends before the hardware
/// prefetcher detects the next one.
template <class T>
HWY_INLINE void prefetch_row_ahead(const T* row, int64_t columns) {
  constexpr int64_t kPrefetchAhead = 4096 / sizeof(T), kCacheLine = 64 / sizeof(T);
  const T* next_row = row + std::max<int64_t>(1, kPrefetchAhead / columns) * columns;
  for (int64_t i = 0; i < columns; i += kCacheLine) __builtin_prefetch(next_row + i);
}

template <class T, class S = ComputeType<T>>
HWY_INLINE S squared_deviations(const T* x, int64_t count, S center) {
  const hn::ScalableTag<S> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), tail = count % lanes,
                whole_count = count - tail;
  const auto center_vector = hn::Set(d, center);
  auto sum_of_squares = hn::Zero(d);
  for_vectors(d, whole_count, [&](auto load, auto) HWY_ATTR {
    const auto a = hn::Sub(load(x), center_vector);
    sum_of_squares = hn::MulAdd(a, a, sum_of_squares);
  });
  if (tail > 0) {
    const auto a = hn::IfThenElseZero(hn::FirstN(d, tail),
                                      hn::Sub(load_part(d, x + whole_count, tail), center_vector));
    sum_of_squares = hn::MulAdd(a, a, sum_of_squares);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum_of_squares));
}

template <class T, class S = ComputeType<T>>
void normalize_rows(const RowBlock<T>& block, const S* gamma, const S* beta, double epsilon, T* y,
                    S* mean, S* rstd) {
  const hn::ScalableTag<S> d;
  const int64_t columns = block.columns;
  const S inverse_count = S{1} / static_cast<S>(columns);
  for (int64_t i = 0; i < block.rows; ++i, y += columns) {
    const T* x = block.x + i * columns;
    prefetch_row_ahead(x, columns), prefetch_row_ahead(y, columns);
    auto sum = hn::Zero(d);
    for_vectors(d, columns, [&](auto load, auto) HWY_ATTR { sum = hn::Add(sum, load(x)); });
    mean[i] = hn::GetLane(hn::SumOfLanes(d, sum)) * inverse_count;
    rstd[i] = static_cast<S>(
        1 / std::sqrt(squared_deviations(x, columns, mean[i]) * inverse_count + epsilon));
    const auto mean_vector = hn::Set(d, mean[i]), factor = hn::Set(d, rstd[i]);
    for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
      store(hn::MulAdd(hn::Mul(hn::Sub(load(x), mean_vector), factor), load(gamma), load(beta)), y);
    });
  }
}

template <class T, class S = ComputeType<T>>
void compute_row_gradients(const RowBlock<T>& block, const S* gamma, const S* mean, const S* rstd,
                           const T* dy, T* dx, S* dgamma, S* dbeta) {
  const hn::ScalableTag<S> d;
  const int64_t columns = block.columns;
  std::fill_n(dgamma, columns, S{0}), std::fill_n(dbeta, columns, S{0});
  const S inverse_count = S{1} / static_cast<S>(columns);
  for (int64_t i = 0; i < block.rows; ++i, dy += columns, dx += columns) {
    const T* x = block.x + i * columns;
    prefetch_row_ahead(x, columns), prefetch_row_ahead(dy, columns),
        prefetch_row_ahead<T>(dx, columns);
    const auto mean_vector = hn::Set(d, mean[i]), factor = hn::Set(d, rstd[i]);
    auto sum = hn::Zero(d), dot = hn::Zero(d);
    for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
      const auto g = load(dy), normalized = hn::Mul(hn::Sub(load(x), mean_vector), factor),
                 scaled = hn::Mul(g, load(gamma));
      sum = hn::Add(sum, scaled), dot = hn::MulAdd(scaled, normalized, dot);
      store(hn::MulAdd(g, normalized, load(dgamma)), dgamma), store(hn::Add(load(dbeta), g), dbeta);
    });
    const auto a = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum)) * inverse_count);
    const auto b = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, dot)) * inverse_count);
    for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
      const auto normalized = hn::Mul(hn::Sub(load(x), mean_vector), factor),
                 scaled = hn::Mul(load(dy), load(gamma));
      store(hn::Mul(factor, hn::Sub(scaled, hn::MulAdd(normalized, b, a))), dx);
    });
  }
}

template <class T>
NormalizationLoops<T> loops() {
  return {compute_moments<T>,  normalize<T>,      sum_products<T>,
          compute_gradient<T>, normalize_rows<T>, compute_row_gradients<T>};
}
NormalizationLoops<float> loops_float() { return loops<float>(); }
NormalizationLoops<double> loops_double() { return loops<double>(); }
NormalizationLoops<BFloat16> loops_bfloat16() { return loops<BFloat16>(); }

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(loops_float);
HWY_EXPORT(loops_double);
HWY_EXPORT(loops_bfloat16);

template <>
NormalizationLoops<float> normalization_loops<float>() {
  return HWY_DYNAMIC_DISPATCH(loops_float)();
}
template <>
NormalizationLoops<double> normalization_loops<double>() {
  return HWY_DYNAMIC_DISPATCH(loops_double)();
}
template <>
NormalizationLoops<BFloat16> normalization_loops<BFloat16>() {
  return HWY_DYNAMIC_DISPATCH(loops_bfloat16)();
}
}  // namespace crescent::cpu
#endif
