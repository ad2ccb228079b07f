// Combines a tile of a matrix product with other arrays, bias, activation and partial sums while it
// is in the cache.
#include "matmul/matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matmul/matmul_epilogue.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void finish_tile(T* c, int64_t rows, int64_t columns, int64_t ldc, const T* bias,
                 ActivationKind activation) {
  const hn::ScalableTag<T> d;
  for (int64_t r = 0; r < rows; ++r, c += ldc) {
    for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
      auto x = load(c);
      if (bias) x = hn::Add(x, load(bias));
      store(activate(d, x, activation), c);
    });
  }
}

template <class T, class X>
void combine_tile(Combine how, const X* x, int64_t ldx, int64_t rows, int64_t columns, T* c,
                  int64_t ldc) {
  const hn::ScalableTag<T> d;
  for (int64_t r = 0; r < rows; ++r, x += ldx, c += ldc) {
    if (how == Combine::add) {
      for_vectors(d, columns,
                  [&](auto load, auto store) HWY_ATTR { store(hn::Add(load(c), load(x)), c); });
    } else {
      for_vectors(d, columns, [&](auto load, auto store) HWY_ATTR {
        store(hn::IfThenElseZero(hn::Gt(load(x), hn::Zero(d)), load(c)), c);
      });
    }
  }
}

template <class T>
void add_addend(T* sum, const T* addend, int64_t count) {
  for_vectors(hn::ScalableTag<T>(), count, [&](auto load, auto store) HWY_ATTR {
    store(hn::Add(load(sum), load(addend)), sum);
  });
}

void finish_float(float* c, int64_t rows, int64_t columns, int64_t ldc, const float* bias,
                  ActivationKind activation) {
  finish_tile(c, rows, columns, ldc, bias, activation);
}
void finish_double(double* c, int64_t rows, int64_t columns, int64_t ldc, const double* bias,
                   ActivationKind activation) {
  finish_tile(c, rows, columns, ldc, bias, activation);
}
void combine_float(Combine how, const float* x, int64_t ldx, int64_t rows, int64_t columns,
                   float* c, int64_t ldc) {
  combine_tile(how, x, ldx, rows, columns, c, ldc);
}
void combine_double(Combine how, const double* x, int64_t ldx, int64_t rows, int64_t columns,
                    double* c, int64_t ldc) {
  combine_tile(how, x, ldx, rows, columns, c, ldc);
}
void combine_half(Combine how, const BFloat16* x, int64_t ldx, int64_t rows, int64_t columns,
                  float* c, int64_t ldc) {
  combine_tile(how, x, ldx, rows, columns, c, ldc);
}
void add_float(float* sum, const float* addend, int64_t count) { add_addend(sum, addend, count); }
void add_double(double* sum, const double* addend, int64_t count) {
  add_addend(sum, addend, count);
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(finish_float);
HWY_EXPORT(finish_double);
HWY_EXPORT(combine_float);
HWY_EXPORT(combine_double);
HWY_EXPORT(combine_half);
HWY_EXPORT(add_float);
HWY_EXPORT(add_double);

template <>
void finish<float>(float* c, int64_t rows, int64_t columns, int64_t ldc, const float* bias,
                   ActivationKind activation) {
  if (bias || activation != ActivationKind::none)
    HWY_DYNAMIC_DISPATCH(finish_float)(c, rows, columns, ldc, bias, activation);
}
template <>
void finish<double>(double* c, int64_t rows, int64_t columns, int64_t ldc, const double* bias,
                    ActivationKind activation) {
  if (bias || activation != ActivationKind::none)
    HWY_DYNAMIC_DISPATCH(finish_double)(c, rows, columns, ldc, bias, activation);
}
void combine(Combine how, const float* x, int64_t ldx, int64_t rows, int64_t columns, float* c,
             int64_t ldc) {
  HWY_DYNAMIC_DISPATCH(combine_float)(how, x, ldx, rows, columns, c, ldc);
}
void combine(Combine how, const double* x, int64_t ldx, int64_t rows, int64_t columns, double* c,
             int64_t ldc) {
  HWY_DYNAMIC_DISPATCH(combine_double)(how, x, ldx, rows, columns, c, ldc);
}
void combine(Combine how, const BFloat16* x, int64_t ldx, int64_t rows, int64_t columns, float* c,
             int64_t ldc) {
  HWY_DYNAMIC_DISPATCH(combine_half)(how, x, ldx, rows, columns, c, ldc);
}
template <>
void accumulate<float>(float* sum, const float* addend, int64_t count) {
  HWY_DYNAMIC_DISPATCH(add_float)(sum, addend, count);
}
template <>
void accumulate<double>(double* sum, const double* addend, int64_t count) {
  HWY_DYNAMIC_DISPATCH(add_double)(sum, addend, count);
}
}  // namespace crescent::cpu
#endif
