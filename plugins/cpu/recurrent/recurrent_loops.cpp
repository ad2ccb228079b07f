#include "recurrent/recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "recurrent/recurrent_loops.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The number of rows of a tile with four vectors of columns whose sums fit the registers.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
constexpr int kMaxRows = 2;
#else
constexpr int kMaxRows = 6;
#endif
constexpr int64_t kWidePanelVectors = 4;  // number of vectors of columns per wide panel

/// The arguments of the product c (rows, columns of a panel) = initial + a b. a is (rows, depth),
/// or (depth, rows) if it is read transposed. Rows of `initial` are `ld_initial` elements apart; 0
/// means that one row is used for all rows, and a null `initial` means zeros.
template <class T>
struct Operands {
  int64_t rows, depth;
  const T* a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  const T* initial;
  int64_t ld_initial;
  T* c;
  int64_t ldc;
};

/// Computes kRows rows of the product in registers. With few rows, several partial sums per element
/// hide the latency of additions.
template <int kRows, int kVectors, bool kTransposed, class D, class T>
HWY_INLINE void multiply_tile(D d, const Operands<T>& p) {
  constexpr int kSums = kRows * kVectors >= 8 ? 1 : 8 / (kRows * kVectors), kStepsAtOnce = kSums;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), lda = p.lda, ldb = p.ldb;
  const T *a = p.a, *b = p.b;
  hn::Vec<D> sum[kSums][kRows][kVectors];
#pragma GCC unroll 8
  for (int s = 0; s < kSums; ++s) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sum[s][r][v] = s == 0 && p.initial ? hn::LoadU(d, p.initial + r * p.ld_initial + v * lanes)
                                           : hn::Zero(d);
      }
    }
  }
  const auto add = [&](int s) HWY_ATTR {
    hn::Vec<D> right[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, kTransposed ? a[r] : a[r * lda]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[s][r][v] = hn::MulAdd(left, right[v], sum[s][r][v]);
    }
    a += kTransposed ? lda : 1, b += ldb;
  };
  int64_t q = 0;
  for (; q + kStepsAtOnce <= p.depth; q += kStepsAtOnce) {
#pragma GCC unroll 8
    for (int s = 0; s < kStepsAtOnce; ++s) add(s % kSums);
  }
  for (; q < p.depth; ++q) add(0);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      auto total = sum[0][r][v];
#pragma GCC unroll 8
      for (int s = 1; s < kSums; ++s) total = hn::Add(total, sum[s][r][v]);
      hn::StoreU(total, d, p.c + r * p.ldc + v * lanes);
    }
  }
}

/// Computes a tile of at most kRows rows.
template <int kRows, int kVectors, bool kTransposed, class D, class T>
HWY_INLINE void multiply_rows(int64_t rows, D d, const Operands<T>& p) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return multiply_rows<kRows - 1, kVectors, kTransposed>(rows, d, p);
  }
  multiply_tile<kRows, kVectors, kTransposed>(d, p);
}

/// Computes any number of rows, in tiles of nearly equal size.
template <int kVectors, bool kTransposed, class T>
HWY_NOINLINE void multiply(Operands<T> p) {
  const hn::ScalableTag<T> d;
  for (int64_t tiles = (p.rows + kMaxRows - 1) / kMaxRows; tiles > 0; --tiles) {
    const int64_t tile_rows = (p.rows + tiles - 1) / tiles;
    multiply_rows<kMaxRows, kVectors, kTransposed>(tile_rows, d, p);
    p.a += kTransposed ? tile_rows : tile_rows * p.lda, p.c += tile_rows * p.ldc,
        p.rows -= tile_rows;
    if (p.initial) p.initial += tile_rows * p.ld_initial;
  }
}

template <class T>
void pack(int64_t rows, int64_t units, int64_t gates, const T* weights, int64_t panel, T* packed) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t first = panel * lanes, count = std::min(lanes, units - first);
  packed += first * gates * rows;
  for (int64_t row = 0; row < rows * gates; ++row, packed += lanes) {
    // Copies a row of the weights, which are read as an array (rows, gates, units).
    std::copy_n(weights + row * units + first, count, packed);
    std::fill_n(packed + count, lanes - count, T{0});
  }
}

/// Calls f(first column, number of vectors) for the panels of `columns` columns: wide panels first,
/// then panels of a single vector.
template <class T, class F>
void for_each_panel(int64_t columns, F&& f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  for (int64_t column = 0; column < columns;) {
    const int64_t vectors = column + kWidePanelVectors * lanes <= columns ? kWidePanelVectors : 1;
    f(column, vectors);
    column += vectors * lanes;
  }
}

template <bool kTransposed, class T>
void multiply_panel(int64_t vectors, const Operands<T>& p) {
  vectors == kWidePanelVectors ? multiply<kWidePanelVectors, kTransposed>(p)
                               : multiply<1, kTransposed>(p);
}

int64_t padded(int64_t columns, int64_t lanes) { return (columns + lanes - 1) / lanes * lanes; }

template <class T>
void pack_transposed(int64_t columns, int64_t depth, const T* weights, int64_t block, T* packed) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t first = block * kDepth, count = std::min(kDepth, depth - first);
  packed += first * padded(columns, lanes);
  for_each_panel<T>(columns, [&](int64_t panel, int64_t vectors) {
    const int64_t width = vectors * lanes;
    for (int64_t column = 0; column < width; ++column) {
      const T* from = weights + (panel + column) * depth + first;
      T* to = packed + panel * count + column;
      for (int64_t q = 0; q < count; ++q) to[q * width] = panel + column < columns ? from[q] : T{0};
    }
  });
}

template <class T>
void multiply_transposed(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t lda,
                         const T* packed, bool accumulates, T* c) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())),
                width = padded(columns, lanes);
  for (int64_t first = 0; first < depth; first += kDepth, accumulates = true) {
    const int64_t count = std::min(kDepth, depth - first);
    for_each_panel<T>(columns, [&](int64_t column, int64_t vectors) {
      const T* panel = packed + first * width + column * count;
      multiply_panel<false, T>(vectors,
                               {rows, count, a + first, lda, panel, vectors * lanes,
                                accumulates ? c + column : nullptr, width, c + column, width});
    });
  }
}

template <class T>
void add_weight_gradient(int64_t rows, int64_t inputs, const T* x, int64_t ldx, int64_t columns,
                         const T* dz, int64_t ldz, T* sum) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())),
                width = padded(columns, lanes);
  for_each_panel<T>(columns, [&](int64_t column, int64_t vectors) {
    multiply_panel<true, T>(vectors, {inputs, rows, x, ldx, dz + column, ldz, sum + column, width,
                                      sum + column, width});
  });
}

template <int kGates, class T>
void multiply_inputs(const RecurrentInput<T>& p) {
  const int64_t width = kGates * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  for (int64_t panel = p.first_panel; panel < p.last_panel; ++panel) {
    const T *kernel = p.kernel + panel * width * p.features, *bias = p.bias + panel * width;
    for (int64_t q = 0; q < p.features; q += kDepth) {
      for (int64_t i = 0; i < p.samples; ++i) {
        T* part = p.products + (panel * p.samples + i) * p.steps * width;
        multiply<kGates, false, T>({p.steps, std::min(kDepth, p.features - q),
                                    p.x + i * p.x_stride + q, p.features, kernel + q * width, width,
                                    q ? part : bias, q ? width : 0, part, width});
      }
    }
  }
}

/// Computes z (samples, kGates * lanes) = initial(panel) + h_before . weights for each panel of
/// units, then calls row(panel, sample, z). Several panels are computed at once, so that the long
/// dependency chains of their rows overlap.
template <int kGates, class T, class Initial, class F>
HWY_INLINE void for_each_row(const RecurrentStep<T>& s, int64_t ld_initial, Initial&& initial,
                             F&& row) {
  const hn::ScalableTag<T> d;
  const int64_t width = kGates * static_cast<int64_t>(hn::Lanes(d)),
                panels_at_once = kPartRows / std::max<int64_t>(1, s.samples);
  HWY_ALIGN T z[kPartRows * kGates * hn::MaxLanes(d)];
  for (int64_t first = s.first_panel; first < s.last_panel; first += panels_at_once) {
    const int64_t last = std::min(first + panels_at_once, s.last_panel);
    for (int64_t panel = first; panel < last; ++panel) {
      multiply<kGates, false, T>({s.samples, s.units, s.h_before, s.h_before_stride,
                                  s.weights + panel * width * s.units, width, initial(panel),
                                  ld_initial, z + (panel - first) * s.samples * width, width});
    }
    for (int64_t panel = first; panel < last; ++panel) {
      for (int64_t i = 0; i < s.samples; ++i)
        row(panel, i, z + ((panel - first) * s.samples + i) * width);
    }
  }
}

/// a / b with an error of at most one unit in the last place, for b of moderate size. It is used
/// because a division instruction occupies the multipliers of AVX-512 for 16 cycles.
template <class D, class V>
HWY_INLINE V quotient(D d, V a, V b) {
#if HWY_TARGET <= HWY_AVX3
  const V guess = hn::ApproximateReciprocal(b);  // an approximation that is accurate to 14 bits
  return hn::Mul(a, hn::MulAdd(guess, hn::NegMulAdd(b, guess, hn::Set(d, 1.0f)), guess));
#else
  (void)d;
  return hn::Div(a, b);
#endif
}

/// tanh of a gate. In float32 it is the rational function that Eigen, and so TensorFlow, uses, with
/// an absolute error below 3e-7.
template <class D, class V>
HWY_INLINE V gate_tanh(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 8) {
    return hyperbolic_tangent(d, x);
  } else {
    const V limit = hn::Set(d, 7.90531110763549805f),
            y = hn::Min(hn::Max(x, hn::Neg(limit)), limit), square = hn::Mul(y, y);
    V numerator = hn::Set(d, -2.76076847742355e-16f),
      denominator = hn::Set(d, 1.19825839466702e-06f);
    for (float c : {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                    1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f}) {
      numerator = hn::MulAdd(numerator, square, hn::Set(d, c));
    }
    for (float c : {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f}) {
      denominator = hn::MulAdd(denominator, square, hn::Set(d, c));
    }
    return keep_nan(x, quotient(d, hn::Mul(numerator, y), denominator));
  }
}
template <class D, class V>
HWY_INLINE V gate_sigmoid(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 8) return sigmoid(d, x);
  const V half = hn::Set(d, T(0.5));
  return hn::MulAdd(half, gate_tanh(d, hn::Mul(half, x)), half);
}

/// Prefetches the rows that the next step writes, because rows of different samples are too far
/// apart for the hardware prefetcher.
template <class T>
HWY_INLINE void prefetch_rows(std::initializer_list<const T*> written_rows) {
  for (const T* row : written_rows) __builtin_prefetch(row, 1, 2);
}

/// Computes the gates of one vector of units, the new cell and the new state.
template <class D, class Gate, class Load, class Store, class T>
HWY_INLINE void lstm_cell(D d, int64_t u, const Gate& gate, const Load& load, const Store& store,
                          const T* c_before, T* gates, T* c, T* h) {
  const auto i = gate_sigmoid(d, gate(0)), f = gate_sigmoid(d, gate(1)),
             o = gate_sigmoid(d, gate(3));
  const auto g = gate_tanh(d, gate(2));
  const auto cell = hn::MulAdd(f, load(c_before), hn::Mul(i, g));
  store(i, gates), store(f, gates + u), store(g, gates + 2 * u), store(o, gates + 3 * u);
  store(cell, c), store(hn::Mul(o, gate_tanh(d, cell)), h);
}

template <class T>
void lstm(const RecurrentStep<T>& s) {
  const hn::ScalableTag<T> d;
  const int64_t u = s.units, lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto x = [&](int64_t panel) { return s.x_products + panel * s.x_panel_stride; };
  for_each_row<4>(s, s.x_stride, x, [&](int64_t panel, int64_t sample, const T* z) HWY_ATTR {
    const int64_t first = panel * lanes;
    const T* c_before = s.c_before + sample * s.c_stride + first;
    T *gates = s.gates + sample * s.gates_stride + first,
      *c = s.c + sample * s.state_stride + first;
    T* h = s.h + sample * s.state_stride + first;
    prefetch_rows({gates + 4 * u, gates + 5 * u, gates + 6 * u, gates + 7 * u, h + u, c + u});
    for_vectors(d, std::min(lanes, u - first), [&](auto load, auto store) HWY_ATTR {
      const auto gate_sum = [&](int64_t gate) HWY_ATTR { return hn::Load(d, z + gate * lanes); };
      lstm_cell(d, u, gate_sum, load, store, c_before, gates, c, h);
    });
  });
}

template <class T>
void lstm_gates(int64_t rows, int64_t units, const T* x_products, const T* h_products,
                const T* c_before, T* gates, T* c, T* h) {
  const hn::ScalableTag<T> d;
  const int64_t u = units;
  for (int64_t row = 0; row < rows; ++row) {
    for_vectors(d, units, [&](auto load, auto store) HWY_ATTR {
      const auto gate_sum = [&](int64_t gate) HWY_ATTR {
        return hn::Add(load(x_products + gate * u), load(h_products + gate * u));
      };
      lstm_cell(d, u, gate_sum, load, store, c_before, gates, c, h);
    });
    x_products += 4 * u, h_products += 4 * u, gates += 4 * u, c_before += u, c += u, h += u;
  }
}

/// Prefetches the row before `row`, which is the row of the previous time step and is read by the
/// next call.
template <class T>
HWY_INLINE void prefetch_previous_row(const T* row, int64_t count) {
  for (const T* p = row - count; p < row; p += 64 / sizeof(T)) __builtin_prefetch(p, 0, 2);
}

/// The derivatives of a sigmoid with value s, s (1 - s), and of a tanh with value t, 1 - t^2.
template <class D, class V>
HWY_INLINE V sigmoid_slope(D, V s) {
  return hn::NegMulAdd(s, s, s);
}
template <class D, class V>
HWY_INLINE V tanh_slope(D d, V t) {
  return hn::NegMulAdd(t, t, hn::Set(d, hn::TFromD<D>{1}));
}

template <class T>
void lstm_gradient(int64_t units, const T* gates, const T* c_before, const T* c, const T* dh,
                   const T* dhs, T* dc, T* dgates, T* dbias) {
  const hn::ScalableTag<T> d;
  const int64_t u = units;
  prefetch_previous_row(gates, 4 * u), prefetch_previous_row(dhs, u);
  for_vectors(d, units, [&](auto load, auto store) HWY_ATTR {
    const auto i = load(gates), f = load(gates + u), g = load(gates + 2 * u),
               o = load(gates + 3 * u);
    const auto t = gate_tanh(d, load(c)), h_gradient = hn::Add(load(dh), load(dhs));
    const auto cell = hn::MulAdd(hn::Mul(h_gradient, o), tanh_slope(d, t), load(dc));
    const auto store_gradient = [&](auto gradient, int64_t gate) HWY_ATTR {
      store(gradient, dgates + gate * u),
          store(hn::Add(load(dbias + gate * u), gradient), dbias + gate * u);
    };
    store_gradient(hn::Mul(hn::Mul(cell, g), sigmoid_slope(d, i)), 0);
    store_gradient(hn::Mul(hn::Mul(cell, load(c_before)), sigmoid_slope(d, f)), 1);
    store_gradient(hn::Mul(hn::Mul(cell, i), tanh_slope(d, g)), 2);
    store_gradient(hn::Mul(hn::Mul(h_gradient, t), sigmoid_slope(d, o)), 3);
    store(hn::Mul(cell, f), dc);
  });
}

template <class T>
void gru(const RecurrentStep<T>& s) {
  const hn::ScalableTag<T> d;
  const int64_t u = s.units, lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto bias = [&](int64_t panel) { return s.bias + panel * 3 * lanes; };
  for_each_row<3>(s, 0, bias, [&](int64_t panel, int64_t sample, const T* z) HWY_ATTR {
    const int64_t first = panel * lanes;
    const T *x = s.x_products + panel * s.x_panel_stride + sample * s.x_stride,
            *h_before = s.h_before + sample * s.h_before_stride + first;
    T *gates = s.gates + sample * s.gates_stride + first,
      *h = s.h + sample * s.state_stride + first;
    prefetch_rows({gates + 4 * u, gates + 5 * u, gates + 6 * u, gates + 7 * u, h + u});
    for_vectors(d, std::min(lanes, u - first), [&](auto load, auto store) HWY_ATTR {
      const auto input_sum = [&](int64_t gate) HWY_ATTR { return hn::LoadU(d, x + gate * lanes); };
      const auto recurrent_sum = [&](int64_t gate)
                                     HWY_ATTR { return hn::Load(d, z + gate * lanes); };
      const auto update = gate_sigmoid(d, hn::Add(input_sum(0), recurrent_sum(0))),
                 r = gate_sigmoid(d, hn::Add(input_sum(1), recurrent_sum(1)));
      const auto candidate_recurrent_sum = recurrent_sum(2),
                 candidate = gate_tanh(d, hn::MulAdd(r, candidate_recurrent_sum, input_sum(2)));
      store(update, gates), store(r, gates + u), store(candidate, gates + 2 * u),
          store(candidate_recurrent_sum, gates + 3 * u);
      store(hn::MulAdd(update, hn::Sub(load(h_before), candidate), candidate), h);
    });
  });
}

template <class T>
void gru_gradient(int64_t units, const T* gates, const T* h_before, const T* dhs, T* dh,
                  T* dx_products, T* dh_products, T* dbias) {
  const hn::ScalableTag<T> d;
  const int64_t u = units;
  prefetch_previous_row(gates, 4 * u), prefetch_previous_row(dhs, u);
  for_vectors(d, units, [&](auto load, auto store) HWY_ATTR {
    const auto z = load(gates), r = load(gates + u), candidate = load(gates + 2 * u),
               recurrent_sum = load(gates + 3 * u);
    const auto h_gradient = hn::Add(load(dh), load(dhs));
    const auto dz =
        hn::Mul(hn::Mul(h_gradient, hn::Sub(load(h_before), candidate)), sigmoid_slope(d, z));
    const auto dg = hn::Mul(hn::NegMulAdd(h_gradient, z, h_gradient), tanh_slope(d, candidate));
    const auto dr = hn::Mul(hn::Mul(dg, recurrent_sum), sigmoid_slope(d, r)),
               drecurrent_sum = hn::Mul(dg, r);
    const auto store_gradient = [&](auto gradient, T* part, T* bias) HWY_ATTR {
      store(gradient, part), store(hn::Add(load(bias), gradient), bias);
    };
    store_gradient(dz, dx_products, dbias), store_gradient(dr, dx_products + u, dbias + u),
        store_gradient(dg, dx_products + 2 * u, dbias + 2 * u);
    store_gradient(dz, dh_products, dbias + 3 * u),
        store_gradient(dr, dh_products + u, dbias + 4 * u),
        store_gradient(drecurrent_sum, dh_products + 2 * u, dbias + 5 * u);
    store(hn::Mul(h_gradient, z), dh);
  });
}

template <class T>
RecurrentLoops<T> loops() {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  return {lanes,
          pack<T>,
          pack_transposed<T>,
          multiply_transposed<T>,
          add_weight_gradient<T>,
          multiply_inputs<4, T>,
          lstm<T>,
          lstm_gates<T>,
          lstm_gradient<T>,
          multiply_inputs<3, T>,
          gru<T>,
          gru_gradient<T>};
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
