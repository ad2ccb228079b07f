// The loops of pooling, vectorized over channels.
#include <algorithm>
#include <limits>

#include "pooling/pooling.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pooling/pooling_loops.cpp"
#include <hwy/foreach_target.h>

#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The input pixels of the windows of one output row; the object moves from window to window.
class Window {
 public:
  Window(const PoolPlan& p, int64_t row) : plan_(p) {
    const auto& [d, h, w] = p.axes;
    const int64_t i = row / h.out, j = row % h.out;
    z0_ = d.first(i), z1_ = d.last(i), y0_ = h.first(j), y1_ = h.last(j);
    are_rows_inside_ = z1_ - z0_ == d.window && y1_ - y0_ == h.window;
  }
  void move_to(int64_t column) {
    const auto& w = plan_.axes[2];
    x0_ = w.first(column), x1_ = w.last(column);
    is_inside_ = are_rows_inside_ && x1_ - x0_ == w.window;
    corner_ = pixel_offset(z0_, y0_, x0_);
  }
  int64_t count() const { return (z1_ - z0_) * (y1_ - y0_) * (x1_ - x0_); }
  /// Calls f(offset of the pixel) for all pixels of the window, in order.
  template <class F>
  HWY_INLINE void for_each_pixel(F&& f) const {
    if (is_inside_) {
      for (int64_t offset : plan_.inner_window_offsets) f(corner_ + offset);
      return;
    }
    for (int64_t z = z0_; z < z1_; ++z) {
      for (int64_t y = y0_; y < y1_; ++y) {
        for (int64_t x = x0_; x < x1_; ++x) f(pixel_offset(z, y, x));
      }
    }
  }

 private:
  int64_t pixel_offset(int64_t z, int64_t y, int64_t x) const {
    return ((z * plan_.axes[1].in + y) * plan_.axes[2].in + x) * plan_.channels;
  }

  const PoolPlan& plan_;
  int64_t z0_, z1_, y0_, y1_, x0_ = 0, x1_ = 0, corner_ = 0;
  bool are_rows_inside_, is_inside_ = false;
};

/// True in lanes where x replaces the maximum `best`: x is greater, or x is NaN and thereby the
/// result becomes NaN.
template <class V>
HWY_INLINE auto exceeds(V x, V best) {
  return hn::Or(hn::Gt(x, best), hn::IsNaN(x));
}

/// Computes the maximum over the window and its index in the window.
template <class D, class Load, class T>
HWY_INLINE void find_maximum(D d, const Window& w, Load& load, const T* x, hn::Vec<D>& best,
                             hn::Vec<D>& argmax) {
  best = hn::Set(d, -std::numeric_limits<hn::TFromD<D>>::infinity()), argmax = hn::Zero(d);
  auto index = hn::Zero(d);
  w.for_each_pixel([&](int64_t pixel) HWY_ATTR {
    const auto value = load(x + pixel);
    const auto replaces = exceeds(value, best);
    best = hn::IfThenElse(replaces, value, best), argmax = hn::IfThenElse(replaces, index, argmax);
    index = hn::Add(index, hn::Set(d, 1));
  });
}

template <class T>
HWY_INLINE void pool_max_pixel(const PoolPlan& p, const Window& w, const T* x, T* y,
                               uint8_t* argmax_indices) {
  const hn::ScalableTag<ComputeType<T>> d;
  for_vectors(d, p.channels, [&](auto load, auto store) HWY_ATTR {
    hn::Vec<decltype(d)> best, argmax;
    find_maximum(d, w, load, x, best, argmax);
    store(best, y), store(argmax, argmax_indices);
  });
}

template <class T>
HWY_INLINE void pool_pixel(const PoolPlan& p, const Window& w, const T* x, T* y) {
  const hn::ScalableTag<ComputeType<T>> d;
  const auto inverse_count = hn::Set(d, 1 / static_cast<ComputeType<T>>(w.count()));
  for_vectors(d, p.channels, [&](auto load, auto store) HWY_ATTR {
    auto result =
        p.is_max ? hn::Set(d, -std::numeric_limits<ComputeType<T>>::infinity()) : hn::Zero(d);
    w.for_each_pixel([&](int64_t pixel) HWY_ATTR {
      const auto value = load(x + pixel);
      result =
          p.is_max ? hn::IfThenElse(exceeds(value, result), value, result) : hn::Add(result, value);
    });
    store(p.is_max ? result : hn::Mul(result, inverse_count), y);
  });
}

/// Adds the gradient to dx if windows overlap, else stores it.
template <bool kOverlap, class Load, class Store, class V, class T>
HWY_INLINE void store_gradient(Load& load, Store& store, V gradient, T* dx) {
  store(kOverlap ? hn::Add(load(dx), gradient) : gradient, dx);
}

/// Adds dy to dx at the maxima of the windows: at argmax_indices or, if these are null, at the
/// first maximum of each window.
template <bool kOverlap, class T>
HWY_INLINE void add_max_gradient(const Window& w, const T* x, const uint8_t* argmax_indices,
                                 const T* dy, T* dx, int64_t channels) {
  const hn::ScalableTag<ComputeType<T>> d;
  for_vectors(d, channels, [&](auto load, auto store) HWY_ATTR {
    hn::Vec<decltype(d)> best, argmax;
    if (argmax_indices)
      argmax = load(argmax_indices);
    else
      find_maximum(d, w, load, x, best, argmax);
    const auto gradient = load(dy);
    auto index = hn::Zero(d);
    w.for_each_pixel([&](int64_t pixel) HWY_ATTR {
      store_gradient<kOverlap>(load, store, hn::IfThenElseZero(hn::Eq(index, argmax), gradient),
                               dx + pixel);
      index = hn::Add(index, hn::Set(d, 1));
    });
  });
}

template <bool kOverlap, class T>
HWY_INLINE void average_gradient(const Window& w, const T* dy, T* dx, int64_t channels) {
  const hn::ScalableTag<ComputeType<T>> d;
  const auto inverse_count = hn::Set(d, 1 / static_cast<ComputeType<T>>(w.count()));
  for_vectors(d, channels, [&](auto load, auto store) HWY_ATTR {
    const auto gradient = hn::Mul(load(dy), inverse_count);
    w.for_each_pixel([&](int64_t pixel)
                         HWY_ATTR { store_gradient<kOverlap>(load, store, gradient, dx + pixel); });
  });
}

template <class T>
void pool_rows(const PoolPlan& p, const T* x, T* y, uint8_t* argmax_indices, int64_t first,
               int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    Window window(p, row);
    for (int64_t i = 0; i < p.axes[2].out; ++i) {
      window.move_to(i);
      const int64_t offset = row * p.out_row_size() + i * p.channels;
      argmax_indices ? pool_max_pixel(p, window, x, y + offset, argmax_indices + offset)
                     : pool_pixel(p, window, x, y + offset);
    }
  }
}

template <bool kOverlap, class T>
HWY_INLINE void add_gradient(const PoolPlan& p, const T* x, const uint8_t* argmax_indices,
                             const T* dy, T* dx, int64_t channels) {
  for (int64_t row = 0; row < p.out_rows(); ++row) {
    Window window(p, row);
    for (int64_t i = 0; i < p.axes[2].out; ++i) {
      window.move_to(i);
      const int64_t offset = row * p.out_row_size() + i * p.channels;
      p.is_max ? add_max_gradient<kOverlap>(window, x,
                                            argmax_indices ? argmax_indices + offset : nullptr,
                                            dy + offset, dx, channels)
               : average_gradient<kOverlap>(window, dy + offset, dx, channels);
    }
  }
}

template <class T>
void compute_gradient(const PoolPlan& p, const T* x, const uint8_t* argmax_indices, const T* dy,
                      T* dx, int64_t first, int64_t last) {
  auto for_all_axes = [&](auto&& condition) {
    return std::all_of(p.axes.begin(), p.axes.end(), condition);
  };
  const bool windows_overlap =
      !for_all_axes([](const PoolPlan::Axis& a) { return a.stride >= a.window; });
  const bool windows_tile_image = for_all_axes([](const PoolPlan::Axis& a) {
    return a.stride == a.window && a.out * a.stride - a.pad_before >= a.in;
  });
  if (windows_overlap || !windows_tile_image) {
    for (int64_t i = first; i < p.in_size(); i += p.channels)
      std::fill_n(dx + i, last - first, T{});
  }
  if (x) x += first;
  if (argmax_indices) argmax_indices += first;
  windows_overlap ? add_gradient<true>(p, x, argmax_indices, dy + first, dx + first, last - first)
                  : add_gradient<false>(p, x, argmax_indices, dy + first, dx + first, last - first);
}

PoolLoops<float> loops_float() { return {pool_rows<float>, compute_gradient<float>}; }
PoolLoops<double> loops_double() { return {pool_rows<double>, compute_gradient<double>}; }
PoolLoops<BFloat16> loops_bfloat16() { return {pool_rows<BFloat16>, compute_gradient<BFloat16>}; }

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(loops_float);
HWY_EXPORT(loops_double);
HWY_EXPORT(loops_bfloat16);

template <>
PoolLoops<float> pool_loops<float>() {
  return HWY_DYNAMIC_DISPATCH(loops_float)();
}
template <>
PoolLoops<double> pool_loops<double>() {
  return HWY_DYNAMIC_DISPATCH(loops_double)();
}
template <>
PoolLoops<BFloat16> pool_loops<BFloat16>() {
  return HWY_DYNAMIC_DISPATCH(loops_bfloat16)();
}
}  // namespace crescent::cpu
#endif
