#include "recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "recurrent_loops.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of a tile of four vectors that registers can hold.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
constexpr int kMostRows = 2;
#else
constexpr int kMostRows = 6;
#endif
constexpr int64_t kWide = 4;                               // vectors of a panel of transposed weights

/// c (kRows, kVectors lanes) = a (kRows, k) b (k, kVectors lanes) [+ c]; b is dense.
template <int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void tile(D d, const T* a, int64_t lda, const T* b, int64_t k, bool add, T* c, int64_t ldc) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[r][v] = add ? hn::LoadU(d, c + r * ldc + v * lanes) : hn::Zero(d);
  }
  for (int64_t q = 0; q < k; ++q, b += kVectors * lanes) {
    hn::Vec<D> right[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, a[r * lda + q]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, c + r * ldc + v * lanes);
  }
}

/// A tile of as many rows as kRows or fewer.
template <int kRows, int kVectors, class D, class T>
HWY_INLINE void tile_of(int64_t rows, D d, const T* a, int64_t lda, const T* b, int64_t k, bool add, T* c, int64_t ldc) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return tile_of<kRows - 1, kVectors>(rows, d, a, lda, b, k, add, c, ldc);
  }
  tile<kRows, kVectors>(d, a, lda, b, k, add, c, ldc);
}

/// The same for any number of rows, in tiles as even as can be.
template <int kVectors, class D, class T>
HWY_NOINLINE void multiply(int64_t rows, D d, const T* a, int64_t lda, const T* b, int64_t k, bool add, T* c, int64_t ldc) {
  for (int64_t tiles = (rows + kMostRows - 1) / kMostRows; tiles > 0; --tiles) {
    const int64_t own = (rows + tiles - 1) / tiles;
    tile_of<kMostRows, kVectors>(own, d, a, lda, b, k, add, c, ldc);
    a += own * lda, c += own * ldc, rows -= own;
  }
}

template <class T>
void pack(int64_t units, int64_t gates, const T* weights, int64_t panel, T* packed) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t first = panel * lanes, count = std::min(lanes, units - first);
  packed += first * gates * units;
  for (int64_t row = 0; row < units * gates; ++row, packed += lanes) {
    std::copy_n(weights + row * units + first, count, packed);         // row of (u, gates, u)
    std::fill_n(packed + count, lanes - count, T{0});
  }
}

/// f(first column, vectors) for the panels of transposed weights: wide ones, then single vectors.
template <class T, class F>
void each_panel(int64_t units, F&& f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  for (int64_t column = 0; column < units;) {
    const int64_t vectors = column + kWide * lanes <= units ? kWide : 1;
    f(column, vectors);
    column += vectors * lanes;
  }
}

int64_t padded(int64_t units, int64_t lanes) { return (units + lanes - 1) / lanes * lanes; }

template <class T>
void pack_transposed(int64_t units, int64_t gates, const T* weights, int64_t gate, T* packed) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  packed += gate * padded(units, lanes) * units;
  each_panel<T>(units, [&](int64_t first, int64_t vectors) {
    const int64_t width = vectors * lanes;
    for (int64_t column = 0; column < width; ++column) {
      const T* from = weights + (first + column) * gates * units + gate * units;
      T* to = packed + first * units + column;
      for (int64_t q = 0; q < units; ++q) to[q * width] = first + column < units ? from[q] : T{0};
    }
  });
}

template <class T>
void multiply_transposed(int64_t samples, int64_t units, int64_t gates, const T* dgates, const T* packed, bool add, T* dh) {
  const hn::ScalableTag<T> d;
  const int64_t width = padded(units, static_cast<int64_t>(hn::Lanes(d)));
  for (int64_t gate = 0; gate < gates; ++gate, add = true) {           // a panel of a gate stays in the first-level cache
    each_panel<T>(units, [&](int64_t column, int64_t vectors) {
      const T* panel = packed + gate * width * units + column * units;
      const auto product = vectors == kWide ? multiply<kWide, hn::ScalableTag<T>, T> : multiply<1, hn::ScalableTag<T>, T>;
      product(samples, d, dgates + gate * units, gates * units, panel, units, add, dh + column, width);
    });
  }
}

/// z (rows, kGates lanes) = h_before . weights for the units of a panel, then row(sample, z): a few samples at a time.
template <int kGates, class D, class T, class F>
HWY_INLINE void each_row(D d, const RecurrentStep<T>& s, int64_t panel, F&& row) {
  constexpr int64_t kSamples = 48;
  const int64_t width = kGates * static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN T z[kSamples * kGates * hn::MaxLanes(d)];
  for (int64_t first = 0; first < s.samples; first += kSamples) {
    const int64_t count = std::min(kSamples, s.samples - first);
    multiply<kGates>(count, d, s.h_before + first * s.units, s.units, s.weights + panel * width * s.units, s.units, false, z, width);
    for (int64_t i = 0; i < count; ++i) row(first + i, z + i * width);
  }
}

/// tanh of a gate. In float32 the quotient of polynomials that Eigen, and so TensorFlow, uses: absolute error below 3e-7.
template <class D, class V>
HWY_INLINE V gate_tanh(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 8) {
    return hyperbolic_tangent(d, x);
  } else {
    const V limit = hn::Set(d, 7.90531110763549805f), y = hn::Min(hn::Max(x, hn::Neg(limit)), limit), square = hn::Mul(y, y);
    V above = hn::Set(d, -2.76076847742355e-16f), below = hn::Set(d, 1.19825839466702e-06f);
    for (float c : {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f, 1.48572235717979e-05f,
                    6.37261928875436e-04f, 4.89352455891786e-03f}) {
      above = hn::MulAdd(above, square, hn::Set(d, c));
    }
    for (float c : {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f}) {
      below = hn::MulAdd(below, square, hn::Set(d, c));
    }
    return keep_nan(x, hn::Div(hn::Mul(above, y), below));
  }
}
template <class D, class V>
HWY_INLINE V gate_sigmoid(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 8) return sigmoid(d, x);
  const V half = hn::Set(d, T(0.5));
  return hn::MulAdd(half, gate_tanh(d, hn::Mul(half, x)), half);
}

/// Asks for what the next step reads and writes: rows of different samples lie too far apart for the processor to see a
/// pattern.
template <class T>
HWY_INLINE void fetch(std::initializer_list<const T*> read, std::initializer_list<const T*> written) {
  for (const T* row : read) __builtin_prefetch(row, 0, 2);
  for (const T* row : written) __builtin_prefetch(row, 1, 2);
}

template <class T>
void lstm(const RecurrentStep<T>& s) {
  const hn::ScalableTag<T> d;
  const int64_t u = s.units, lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t panel = s.first_panel; panel < s.last_panel; ++panel) {
    const int64_t first = panel * lanes;
    each_row<4>(d, s, panel, [&](int64_t sample, const T* z) HWY_ATTR {
      const T* x = s.x_part + sample * s.x_stride + first;
      T *gates = s.gates + sample * s.gates_stride + first, *c = s.c + sample * u + first, *h = s.h + sample * u + first;
      T *cells = s.cells + sample * s.state_stride + first, *hs = s.hs + sample * s.state_stride + first;
      fetch({x + 4 * u, x + 5 * u, x + 6 * u, x + 7 * u}, {hs + u, cells + u});
      for_vectors(d, std::min(lanes, u - first), [&](auto load, auto store) HWY_ATTR {
        const auto part = [&](int64_t gate) HWY_ATTR { return hn::Add(load(x + gate * u), hn::Load(d, z + gate * lanes)); };
        const auto i = gate_sigmoid(d, part(0)), f = gate_sigmoid(d, part(1)), o = gate_sigmoid(d, part(3));
        const auto g = gate_tanh(d, part(2));
        const auto cell = hn::MulAdd(f, load(c), hn::Mul(i, g));
        const auto out = hn::Mul(o, gate_tanh(d, cell));
        store(i, gates), store(f, gates + u), store(g, gates + 2 * u), store(o, gates + 3 * u);
        store(cell, c), store(cell, cells), store(out, h), store(out, hs);
      });
    });
  }
}

/// Asks for the row that the step before reads or writes: it lies just before `row`.
template <bool written, class T>
HWY_INLINE void fetch_before(const T* row, int64_t count) {
  for (const T* p = row - count; p < row; p += 64 / sizeof(T)) __builtin_prefetch(p, written, 2);
}

/// slope s (1 - s) of a sigmoid with value s, and 1 - t^2 of a tanh.
template <class D, class V>
HWY_INLINE V sigmoid_slope(D, V s) {
  return hn::NegMulAdd(s, s, s);
}
template <class D, class V>
HWY_INLINE V tanh_slope(D d, V t) {
  return hn::NegMulAdd(t, t, hn::Set(d, hn::TFromD<D>{1}));
}

template <class T>
void lstm_gradient(int64_t units, const T* gates, const T* c_before, const T* c, const T* dh, const T* dhs, T* dc,
                   T* dgates, T* dgates_copy, T* dbias) {
  const hn::ScalableTag<T> d;
  const int64_t u = units;
  fetch_before<false>(gates, 4 * u), fetch_before<true>(dgates, 4 * u), fetch_before<false>(dhs, u);
  for_vectors(d, units, [&](auto load, auto store) HWY_ATTR {
    const auto i = load(gates), f = load(gates + u), g = load(gates + 2 * u), o = load(gates + 3 * u);
    const auto t = gate_tanh(d, load(c)), up = hn::Add(load(dh), load(dhs));
    const auto cell = hn::MulAdd(hn::Mul(up, o), tanh_slope(d, t), load(dc));
    const auto put = [&](auto gradient, int64_t gate) HWY_ATTR {
      store(gradient, dgates + gate * u), store(gradient, dgates_copy + gate * u);
      store(hn::Add(load(dbias + gate * u), gradient), dbias + gate * u);
    };
    put(hn::Mul(hn::Mul(cell, g), sigmoid_slope(d, i)), 0);
    put(hn::Mul(hn::Mul(cell, load(c_before)), sigmoid_slope(d, f)), 1);
    put(hn::Mul(hn::Mul(cell, i), tanh_slope(d, g)), 2);
    put(hn::Mul(hn::Mul(up, t), sigmoid_slope(d, o)), 3);
    store(hn::Mul(cell, f), dc);
  });
}

template <class T>
void gru(const RecurrentStep<T>& s) {
  const hn::ScalableTag<T> d;
  const int64_t u = s.units, lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t panel = s.first_panel; panel < s.last_panel; ++panel) {
    const int64_t first = panel * lanes;
    each_row<3>(d, s, panel, [&](int64_t sample, const T* part) HWY_ATTR {
      const T *x = s.x_part + sample * s.x_stride + first, *bias = s.bias + first;
      const T* before = s.h_before + sample * u + first;
      T *gates = s.gates + sample * s.gates_stride + first, *h = s.h + sample * u + first;
      T* hs = s.hs + sample * s.state_stride + first;
      fetch({x + 3 * u, x + 4 * u, x + 5 * u}, {gates + 4 * u, gates + 5 * u, gates + 6 * u, gates + 7 * u, hs + u});
      for_vectors(d, std::min(lanes, u - first), [&](auto load, auto store) HWY_ATTR {
        const auto inner = [&](int64_t gate) HWY_ATTR { return hn::Add(hn::Load(d, part + gate * lanes), load(bias + gate * u)); };
        const auto z = gate_sigmoid(d, hn::Add(load(x), inner(0))), r = gate_sigmoid(d, hn::Add(load(x + u), inner(1)));
        const auto own = inner(2), candidate = gate_tanh(d, hn::MulAdd(r, own, load(x + 2 * u)));
        const auto out = hn::MulAdd(z, hn::Sub(load(before), candidate), candidate);
        store(z, gates), store(r, gates + u), store(candidate, gates + 2 * u), store(own, gates + 3 * u);
        store(out, h), store(out, hs);
      });
    });
  }
}

template <class T>
void gru_gradient(int64_t units, const T* gates, const T* h_before, const T* dhs, T* dh, T* dx_part, T* dh_part,
                  T* dh_part_copy, T* dbias) {
  const hn::ScalableTag<T> d;
  const int64_t u = units;
  fetch_before<false>(gates, 4 * u), fetch_before<true>(dx_part, 3 * u), fetch_before<true>(dh_part, 3 * u);
  for_vectors(d, units, [&](auto load, auto store) HWY_ATTR {
    const auto z = load(gates), r = load(gates + u), candidate = load(gates + 2 * u), inner = load(gates + 3 * u);
    const auto up = hn::Add(load(dh), load(dhs));
    const auto dz = hn::Mul(hn::Mul(up, hn::Sub(load(h_before), candidate)), sigmoid_slope(d, z));
    const auto dg = hn::Mul(hn::NegMulAdd(up, z, up), tanh_slope(d, candidate));
    const auto dr = hn::Mul(hn::Mul(dg, inner), sigmoid_slope(d, r)), dinner = hn::Mul(dg, r);
    const auto put = [&](auto gradient, T* part, T* bias) HWY_ATTR {
      store(gradient, part), store(hn::Add(load(bias), gradient), bias);
    };
    put(dz, dx_part, dbias), put(dr, dx_part + u, dbias + u), put(dg, dx_part + 2 * u, dbias + 2 * u);
    put(dz, dh_part, dbias + 3 * u), put(dr, dh_part + u, dbias + 4 * u), put(dinner, dh_part + 2 * u, dbias + 5 * u);
    store(dz, dh_part_copy), store(dr, dh_part_copy + u), store(dinner, dh_part_copy + 2 * u);
    store(hn::Mul(up, z), dh);
  });
}

template <class T>
RecurrentLoops<T> loops() {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  return {lanes, pack<T>, pack_transposed<T>, multiply_transposed<T>, lstm<T>, lstm_gradient<T>, gru<T>, gru_gradient<T>};
}
RecurrentLoops<float> loops_float() { return loops<float>(); }
RecurrentLoops<double> loops_double() { return loops<double>(); }

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(loops_float);
HWY_EXPORT(loops_double);

template <>
RecurrentLoops<float> recurrent_loops<float>() {
  return HWY_DYNAMIC_DISPATCH(loops_float)();
}
template <>
RecurrentLoops<double> recurrent_loops<double>() {
  return HWY_DYNAMIC_DISPATCH(loops_double)();
}
}  // namespace crescent::cpu
#endif
