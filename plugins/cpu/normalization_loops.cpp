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

template <class T>
void moments(const Rows<T>& block, T* mean, T* deviation) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  const hn::ScalableTag<T> d;
  const auto share = hn::Set(d, T{1} / static_cast<T>(rows));
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

template <class T>
void normalize(const Rows<T>& block, const T* mean, const T* scale, const T* shift, T* y) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    for_vectors(hn::ScalableTag<T>(), columns, [&](auto load, auto store) HWY_ATTR {
      store(hn::MulAdd(hn::Sub(load(x), load(mean)), load(scale), load(shift)), y);
    });
  }
}

template <class T>
void products(const Rows<T>& block, const T* dy, const T* mean, T* sum, T* product) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  const hn::ScalableTag<T> d;
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

template <class T>
void gradient(const Rows<T>& block, const T* dy, const T* mean, const T* scale, const T* slope, const T* offset,
              T* dx) {
  const T* x = block.x;
  const int64_t rows = block.rows, columns = block.columns;
  for (int64_t r = 0; r < rows; ++r, x += columns, dy += columns, dx += columns) {
    for_vectors(hn::ScalableTag<T>(), columns, [&](auto load, auto store) HWY_ATTR {
      const auto rest = hn::MulAdd(hn::Sub(load(x), load(mean)), load(slope), load(offset));
      store(hn::MulSub(load(scale), load(dy), rest), dx);
    });
  }
}

template <class T>
HWY_INLINE T squared_deviations(const T* x, int64_t count, T center) {
  const hn::ScalableTag<T> d;
  const int64_t whole = count - count % static_cast<int64_t>(hn::Lanes(d));
  const auto middle = hn::Set(d, center);
  auto squares = hn::Zero(d);
  for_vectors(d, whole, [&](auto load, auto) HWY_ATTR {
    const auto a = hn::Sub(load(x), middle);
    squares = hn::MulAdd(a, a, squares);
  });
  T sum = hn::GetLane(hn::SumOfLanes(d, squares));
  for (int64_t i = whole; i < count; ++i) sum += (x[i] - center) * (x[i] - center);
  return sum;
}

template <class T>
void row_forward(const Rows<T>& block, const T* gamma, const T* beta, double epsilon, T* y, T* mean, T* rstd) {
  const hn::ScalableTag<T> d;
  const int64_t columns = block.columns;
  const T share = T{1} / static_cast<T>(columns);
  for (int64_t i = 0; i < block.rows; ++i, y += columns) {
    const T* x = block.x + i * columns;
    auto sum = hn::Zero(d);
    for_vectors(d, columns, [&](auto load, auto) HWY_ATTR { sum = hn::Add(sum, load(x)); });
    mean[i] = hn::GetLane(hn::SumOfLanes(d, sum)) * share;
    rstd[i] = static_cast<T>(1 / std::sqrt(squared_deviations(x, columns, mean[i]) * share + epsilon));
    const auto middle = hn::Set(d, mean[i]), factor = hn::Set(d, rstd[i]);
    for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
      store(hn::MulAdd(hn::Mul(hn::Sub(load(x), middle), factor), load(gamma), load(beta)), y);
    });
  }
}

template <class T>
void row_gradient(const Rows<T>& block, const T* gamma, const T* mean, const T* rstd, const T* dy, T* dx, T* dgamma,
                  T* dbeta) {
  const hn::ScalableTag<T> d;
  const int64_t columns = block.columns;
  std::fill_n(dgamma, columns, T{0}), std::fill_n(dbeta, columns, T{0});
  const T share = T{1} / static_cast<T>(columns);
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

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(loops_float);
HWY_EXPORT(loops_double);

template <>
NormalizationLoops<float> normalization_loops<float>() {
  return HWY_DYNAMIC_DISPATCH(loops_float)();
}
template <>
NormalizationLoops<double> normalization_loops<double>() {
  return HWY_DYNAMIC_DISPATCH(loops_double)();
}
}  // namespace crescent::cpu
#endif
