#include "recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "recurrent_loops.cpp"
#include <hwy/foreach_target.h>

#include "vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void lstm(int64_t units, T* gates, const T* c_before, T* c, T* h) {
  const hn::ScalableTag<T> d;
  T *input = gates, *forget = gates + units, *candidate = gates + 2 * units, *output = gates + 3 * units;
  for_vectors(d, units, [&](auto load, auto store) HWY_ATTR {
    const auto i = sigmoid(d, load(input)), f = sigmoid(d, load(forget)), o = sigmoid(d, load(output));
    const auto g = hyperbolic_tangent(d, load(candidate));
    const auto cell = hn::MulAdd(f, load(c_before), hn::Mul(i, g));
    store(i, input), store(f, forget), store(g, candidate), store(o, output), store(cell, c);
    store(hn::Mul(o, hyperbolic_tangent(d, cell)), h);
  });
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
void lstm_gradient(int64_t units, const T* gates, const T* c_before, const T* c, const T* dh, T* dc, T* dgates,
                   T* dbias) {
  const hn::ScalableTag<T> d;
  const int64_t u = units;
  for_vectors(d, units, [&](auto load, auto store) HWY_ATTR {
    const auto i = load(gates), f = load(gates + u), g = load(gates + 2 * u), o = load(gates + 3 * u);
    const auto t = hyperbolic_tangent(d, load(c)), up = load(dh);
    const auto cell = hn::MulAdd(hn::Mul(up, o), tanh_slope(d, t), load(dc));
    const auto put = [&](auto gradient, int64_t gate) HWY_ATTR {
      store(gradient, dgates + gate * u), store(hn::Add(load(dbias + gate * u), gradient), dbias + gate * u);
    };
    put(hn::Mul(hn::Mul(cell, g), sigmoid_slope(d, i)), 0);
    put(hn::Mul(hn::Mul(cell, load(c_before)), sigmoid_slope(d, f)), 1);
    put(hn::Mul(hn::Mul(cell, i), tanh_slope(d, g)), 2);
    put(hn::Mul(hn::Mul(up, t), sigmoid_slope(d, o)), 3);
    store(hn::Mul(cell, f), dc);
  });
}

template <class T>
void gru(int64_t units, const T* x_part, const T* h_part, const T* h_before, T* gates, T* h) {
  const hn::ScalableTag<T> d;
  const int64_t u = units;
  for_vectors(d, units, [&](auto load, auto store) HWY_ATTR {
    const auto z = sigmoid(d, hn::Add(load(x_part), load(h_part)));
    const auto r = sigmoid(d, hn::Add(load(x_part + u), load(h_part + u)));
    const auto inner = load(h_part + 2 * u);
    const auto candidate = hyperbolic_tangent(d, hn::MulAdd(r, inner, load(x_part + 2 * u)));
    store(z, gates), store(r, gates + u), store(candidate, gates + 2 * u), store(inner, gates + 3 * u);
    store(hn::MulAdd(z, hn::Sub(load(h_before), candidate), candidate), h);
  });
}

template <class T>
void gru_gradient(int64_t units, const T* gates, const T* h_before, T* dh, T* dx_part, T* dh_part, T* dbias) {
  const hn::ScalableTag<T> d;
  const int64_t u = units;
  for_vectors(d, units, [&](auto load, auto store) HWY_ATTR {
    const auto z = load(gates), r = load(gates + u), candidate = load(gates + 2 * u), inner = load(gates + 3 * u);
    const auto up = load(dh);
    const auto dz = hn::Mul(hn::Mul(up, hn::Sub(load(h_before), candidate)), sigmoid_slope(d, z));
    const auto dg = hn::Mul(hn::NegMulAdd(up, z, up), tanh_slope(d, candidate));
    const auto dr = hn::Mul(hn::Mul(dg, inner), sigmoid_slope(d, r)), dinner = hn::Mul(dg, r);
    const auto put = [&](auto gradient, T* part, T* bias) HWY_ATTR {
      store(gradient, part), store(hn::Add(load(bias), gradient), bias);
    };
    put(dz, dx_part, dbias), put(dr, dx_part + u, dbias + u), put(dg, dx_part + 2 * u, dbias + 2 * u);
    put(dz, dh_part, dbias + 3 * u), put(dr, dh_part + u, dbias + 4 * u), put(dinner, dh_part + 2 * u, dbias + 5 * u);
    store(hn::Mul(up, z), dh);
  });
}

template <class T>
RecurrentLoops<T> loops() {
  return {lstm<T>, lstm_gradient<T>, gru<T>, gru_gradient<T>};
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
