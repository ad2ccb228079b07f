// The loops of pooling, vectors along the channels.
#include <algorithm>
#include <limits>

#include "pooling.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pooling_loops.cpp"
#include <hwy/foreach_target.h>

#include "vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The input pixels under the window of one output pixel.
struct Window {
  const PoolPlan& plan;
  int64_t z0, z1, y0, y1, x0, x1;

  Window(const PoolPlan& p, int64_t row, int64_t column) : plan(p) {
    const auto& [d, h, w] = p.axes;
    const int64_t i = row / h.out, j = row % h.out;
    z0 = d.first(i), z1 = d.last(i), y0 = h.first(j), y1 = h.last(j), x0 = w.first(column), x1 = w.last(column);
  }
  int64_t count() const { return (z1 - z0) * (y1 - y0) * (x1 - x0); }
  int64_t pixel(int64_t z, int64_t y, int64_t x) const { return (z * plan.axes[1].in + y) * plan.axes[2].in + x; }
  /// f(pixel) in order.
  template <class F>
  HWY_INLINE void each(F&& f) const {
    if (count() == static_cast<int64_t>(plan.whole.size())) {
      const int64_t corner = pixel(z0, y0, x0);
      for (int64_t offset : plan.whole) f(corner + offset);
      return;
    }
    for (int64_t z = z0; z < z1; ++z) {
      for (int64_t y = y0; y < y1; ++y) {
        for (int64_t x = x0; x < x1; ++x) f(pixel(z, y, x));
      }
    }
  }
};

/// Where x beats the best so far: greater, or not a number (which then stays).
template <class V>
HWY_INLINE auto beats(V x, V best) {
  return hn::Or(hn::Gt(x, best), hn::IsNaN(x));
}

template <class T>
HWY_INLINE void pool_pixel(const PoolPlan& p, const Window& w, const T* x, T* y) {
  const hn::ScalableTag<T> d;
  const auto share = hn::Set(d, T{1} / static_cast<T>(w.count()));
  for_vectors(d, p.channels, [&](auto load, auto store) HWY_ATTR {
    auto result = p.max ? hn::Set(d, -std::numeric_limits<T>::infinity()) : hn::Zero(d);
    w.each([&](int64_t pixel) HWY_ATTR {
      const auto value = load(x + pixel * p.channels);
      result = p.max ? hn::IfThenElse(beats(value, result), value, result) : hn::Add(result, value);
    });
    store(p.max ? result : hn::Mul(result, share), y);
  });
}

/// Gives dy to the first greatest value.
template <class T>
HWY_INLINE void max_gradient(const PoolPlan& p, const Window& w, const T* x, const T* dy, T* dx, int64_t channels) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T{1});
  for_vectors(d, channels, [&](auto load, auto store) HWY_ATTR {
    auto best = hn::Set(d, -std::numeric_limits<T>::infinity()), winner = hn::Zero(d), number = hn::Zero(d);
    w.each([&](int64_t pixel) HWY_ATTR {
      const auto value = load(x + pixel * p.channels);
      const auto better = beats(value, best);
      best = hn::IfThenElse(better, value, best), winner = hn::IfThenElse(better, number, winner);
      number = hn::Add(number, one);
    });
    const auto gradient = load(dy);
    number = hn::Zero(d);
    w.each([&](int64_t pixel) HWY_ATTR {
      T* to = dx + pixel * p.channels;
      store(hn::Add(load(to), hn::IfThenElseZero(hn::Eq(number, winner), gradient)), to);
      number = hn::Add(number, one);
    });
  });
}

template <class T>
HWY_INLINE void average_gradient(const PoolPlan& p, const Window& w, const T* dy, T* dx, int64_t channels) {
  const hn::ScalableTag<T> d;
  const auto share = hn::Set(d, T{1} / static_cast<T>(w.count()));
  for_vectors(d, channels, [&](auto load, auto store) HWY_ATTR {
    const auto gradient = hn::Mul(load(dy), share);
    w.each([&](int64_t pixel) HWY_ATTR {
      T* to = dx + pixel * p.channels;
      store(hn::Add(load(to), gradient), to);
    });
  });
}

template <class T>
void rows(const PoolPlan& p, const T* x, T* y, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    for (int64_t i = 0; i < p.axes[2].out; ++i) {
      pool_pixel(p, Window(p, row, i), x, y + row * p.out_row_size() + i * p.channels);
    }
  }
}

template <class T>
void gradient(const PoolPlan& p, const T* x, const T* dy, T* dx, int64_t first, int64_t last) {
  for (int64_t i = first; i < p.in_size(); i += p.channels) std::fill_n(dx + i, last - first, T{0});
  for (int64_t row = 0; row < p.out_rows(); ++row) {
    for (int64_t i = 0; i < p.axes[2].out; ++i) {
      const Window w(p, row, i);
      const T* from = dy + row * p.out_row_size() + i * p.channels + first;
      p.max ? max_gradient(p, w, x + first, from, dx + first, last - first)
            : average_gradient(p, w, from, dx + first, last - first);
    }
  }
}

void rows_float(const PoolPlan& p, const float* x, float* y, int64_t first, int64_t last) { rows(p, x, y, first, last); }
void rows_double(const PoolPlan& p, const double* x, double* y, int64_t first, int64_t last) {
  rows(p, x, y, first, last);
}
void gradient_float(const PoolPlan& p, const float* x, const float* dy, float* dx, int64_t first, int64_t last) {
  gradient(p, x, dy, dx, first, last);
}
void gradient_double(const PoolPlan& p, const double* x, const double* dy, double* dx, int64_t first, int64_t last) {
  gradient(p, x, dy, dx, first, last);
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(rows_float);
HWY_EXPORT(rows_double);
HWY_EXPORT(gradient_float);
HWY_EXPORT(gradient_double);

template <>
void pool_rows<float>(const PoolPlan& p, const float* x, float* y, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(rows_float)(p, x, y, first, last);
}
template <>
void pool_rows<double>(const PoolPlan& p, const double* x, double* y, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(rows_double)(p, x, y, first, last);
}
template <>
void pool_gradient<float>(const PoolPlan& p, const float* x, const float* dy, float* dx, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(gradient_float)(p, x, dy, dx, first, last);
}
template <>
void pool_gradient<double>(const PoolPlan& p, const double* x, const double* dy, double* dx, int64_t first,
                           int64_t last) {
  HWY_DYNAMIC_DISPATCH(gradient_double)(p, x, dy, dx, first, last);
}
}  // namespace crescent::cpu
#endif
