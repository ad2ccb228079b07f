#include <algorithm>
#include <cmath>

#include "normalization.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "normalization_loops.cpp"
#include <hwy/foreach_target.h>

#include "vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class S = Computed<T>>
void moments(const Rows<T>& block, S* mean, S* deviation) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  const hn::ScalableTag<S> d;
  const auto share = hn::Set(d, S{1} / static_cast<S>(rows));
  for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
    auto sum = hn::Zero(d), odd = hn::Zero(d);
    int64_t r = 0;
    for (; r + 2 <= rows; r += 2) {
      sum = hn::Add(sum, load(x + r * columns)), odd = hn::Add(odd, load(x + (r + 1) * columns));
    }
    if (r < rows) sum = hn::Add(sum, load(x + r * columns));
    const auto center = hn::Mul(hn::Add(sum, odd), share);
    auto squares = hn::Zero(d), odd_squares = hn::Zero(d);
    for (r = 0; r + 2 <= rows; r += 2) {
      const auto a = hn::Sub(load(x + r * columns), center), b = hn::Sub(load(x + (r + 1) * columns), center);
      squares = hn::MulAdd(a, a, squares), odd_squares = hn::MulAdd(b, b, odd_squares);
    }
    if (r < rows) {
      const auto a = hn::Sub(load(x + r * columns), center);
      squares = hn::MulAdd(a, a, squares);
    }
    store(center, mean), store(hn::Add(squares, odd_squares), deviation);
  });
}

template <class T, class S = Computed<T>>
void normalize(const Rows<T>& block, const S* mean, const S* scale, const S* shift, T* y) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    for_vectors(hn::ScalableTag<S>(), columns, [&](auto load, auto store) HWY_ATTR {
      store(hn::MulAdd(hn::Sub(load(x), load(mean)), load(scale), load(shift)), y);
    });
  }
}

template <class T, class S = Computed<T>>
void products(const Rows<T>& block, const T* dy, const S* mean, S* sum, S* product) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  const hn::ScalableTag<S> d;
  for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
    const auto center = load(mean);
    auto total = hn::Zero(d), dot = hn::Zero(d);
    for (int64_t r = 0; r < rows; ++r) {
      const auto g = load(dy + r * columns);
      total = hn::Add(total, g), dot = hn::MulAdd(g, hn::Sub(load(x + r * columns), center), dot);
    }
    store(total, sum), store(dot, product);
  });
}

template <class T, class S = Computed<T>>
void gradient(const Rows<T>& block, const T* dy, const S* mean, const S* scale, const S* slope, const S* offset,
              T* dx) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  for (int64_t r = 0; r < rows; ++r, x += columns, dy += columns, dx += columns) {
    for_vectors(hn::ScalableTag<S>(), columns, [&](auto load, auto store) HWY_ATTR {
      const auto rest = hn::MulAdd(hn::Sub(load(x), load(mean)), load(slope), load(offset));
      store(hn::MulSub(load(scale), load(dy), rest), dx);
    });
  }
}

template <class T, class S = Computed<T>>
HWY_INLINE S squared_deviations(const T* x, int64_t count, S center) {
  const hn::ScalableTag<S> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), rest = count % lanes, whole = count - rest;
  const auto middle = hn::Set(d, center);
  auto squares = hn::Zero(d);
  for_vectors(d, whole, [&](auto load, auto) HWY_ATTR {
    const auto a = hn::Sub(load(x), middle);
    squares = hn::MulAdd(a, a, squares);
  });
  if (rest > 0) {
    const auto a = hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(rest)), hn::Sub(load_part(d, x + whole, rest), middle));
    squares = hn::MulAdd(a, a, squares);
  }
  return hn::GetLane(hn::SumOfLanes(d, squares));
}

template <class T, class S = Computed<T>>
void row_forward(const Rows<T>& block, const S* gamma, const S* beta, double epsilon, T* y, S* mean, S* rstd) {
  const hn::ScalableTag<S> d;
  const int64_t columns = block.columns;
  const S share = S{1} / static_cast<S>(columns);
  for (int64_t i = 0; i < block.rows; ++i, y += columns) {
    const T* x = block.x + i * columns;
    auto sum = hn::Zero(d);
    for_vectors(d, columns, [&](auto load, auto) HWY_ATTR { sum = hn::Add(sum, load(x)); });
    mean[i] = hn::GetLane(hn::SumOfLanes(d, sum)) * share;
    rstd[i] = static_cast<S>(1 / std::sqrt(squared_deviations(x, columns, mean[i]) * share + epsilon));
    const auto middle = hn::Set(d, mean[i]), factor = hn::Set(d, rstd[i]);
    for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
      store(hn::MulAdd(hn::Mul(hn::Sub(load(x), middle), factor), load(gamma), load(beta)), y);
    });
  }
}

template <class T, class S = Computed<T>>
void row_gradient(const Rows<T>& block, const S* gamma, const S* mean, const S* rstd, const T* dy, T* dx, S* dgamma,
                  S* dbeta) {
  const hn::ScalableTag<S> d;
  const int64_t columns = block.columns;
  std::fill_n(dgamma, columns, S{0}), std::fill_n(dbeta, columns, S{0});
  const S share = S{1} / static_cast<S>(columns);
  for (int64_t i = 0; i < block.rows; ++i, dy += columns, dx += columns) {
    const T* x = block.x + i * columns;
    const auto middle = hn::Set(d, mean[i]), factor = hn::Set(d, rstd[i]);
    auto sum = hn::Zero(d), dot = hn::Zero(d);
    for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
      const auto g = load(dy), normal = hn::Mul(hn::Sub(load(x), middle), factor), scaled = hn::Mul(g, load(gamma));
      sum = hn::Add(sum, scaled), dot = hn::MulAdd(scaled, normal, dot);
      store(hn::MulAdd(g, normal, load(dgamma)), dgamma), store(hn::Add(load(dbeta), g), dbeta);
    });
    const auto a = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum)) * share);
    const auto b = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, dot)) * share);
    for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
      const auto normal = hn::Mul(hn::Sub(load(x), middle), factor), scaled = hn::Mul(load(dy), load(gamma));
      store(hn::Mul(factor, hn::Sub(scaled, hn::MulAdd(normal, b, a))), dx);
    });
  }
}

template <class T>
NormalizationLoops<T> loops() {
  return {moments<T>, normalize<T>, products<T>, gradient<T>, row_forward<T>, row_gradient<T>};
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
