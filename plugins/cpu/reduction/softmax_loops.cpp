#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduction/softmax_loops.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>

#include "kernel/mathematics-inl.h"
#include "reduction/softmax_loops.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

template <class T>
T maximum_of(const T* x, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  T maximum = x[0];
  int64_t i = 0;
  if (n >= lanes) {
    auto m = hn::LoadU(d, x);
    for (i = lanes; i + lanes <= n; i += lanes) m = hn::Max(m, hn::LoadU(d, x + i));
    maximum = hn::GetLane(hn::MaxOfLanes(d, m));
  }
  for (; i < n; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  return maximum;
}

/// Calls f(values, count) for consecutive pieces of a line of bfloat16, widened to float32.
template <class F>
void for_each_widened_piece(const BFloat16* x, int64_t n, F&& f) {
  constexpr int64_t kPiece = 1024;
  HWY_ALIGN float piece[kPiece];
  for (int64_t first = 0; first < n; first += kPiece) {
    const int64_t count = std::min(kPiece, n - first);
    for_vectors(hn::ScalableTag<float>(), count,
                [&](auto load, auto store) HWY_ATTR { store(load(x + first), piece); });
    f(piece, count);
  }
}

/// Writes y = exp(x - maximum), unless y is null, and returns the sum, which is NaN if any x is.
template <class T>
double exponentials(const T* x, T* y, int64_t n, T maximum) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto shift = hn::Set(d, maximum);
  double total = 0;
  HWY_ALIGN T tail[hn::MaxLanes(d)];
  // At most 64 vectors are summed in T before the sum is added in float64.
  for (int64_t i = 0; i < n;) {
    auto sum = hn::Zero(d);
    const int64_t last_begin = std::min(n - lanes, i + 63 * lanes);
    for (; i <= last_begin; i += lanes) {
      const auto e = exponential_of_negative(d, hn::Sub(hn::LoadU(d, x + i), shift));
      if (y) hn::StoreU(e, d, y + i);
      sum = hn::Add(sum, e);
    }
    if (i + lanes > n && i < n) {
      for (int64_t k = 0; k < lanes; ++k) tail[k] = i + k < n ? x[i + k] : T(-INFINITY);
      const auto e = exponential_of_negative(d, hn::Sub(hn::Load(d, tail), shift));
      hn::Store(e, d, tail);
      if (y) std::copy_n(tail, n - i, y + i);
      sum = hn::Add(sum, e);
      i = n;
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
  return total;
}

template <class T>
void scale(T* y, int64_t n, T factor) {
  for (int64_t i = 0; i < n; ++i) y[i] *= factor;
}

template <class T>
void softmax_scaled(const void* px, void* py, int64_t n, double factor) {
  const T* x = static_cast<const T*>(px);
  T* y = static_cast<T*>(py);
  const double sum = exponentials(x, y, n, maximum_of(x, n));
  scale(y, n, static_cast<T>(factor / sum));
}

template <class T>
LogSum log_sum(const void* px, int64_t n) {
  const T* x = static_cast<const T*>(px);
  const T maximum = maximum_of(x, n);
  return {static_cast<double>(maximum), std::log(exponentials<T>(x, nullptr, n, maximum))};
}

template <class T>
void softmax_line(const void* px, void* py, int64_t n, bool is_log) {
  if (!is_log) return softmax_scaled<T>(px, py, n, 1);
  const T* x = static_cast<const T*>(px);
  T* y = static_cast<T*>(py);
  const T maximum = maximum_of(x, n),
          log_of_sum = static_cast<T>(std::log(exponentials<T>(x, nullptr, n, maximum)));
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - maximum - log_of_sum;
}

template <class T>
void softmax_lines(const void* px, void* py, int64_t n, int64_t stride, int64_t width,
                   bool is_log) {
  const T* x = static_cast<const T*>(px);
  T* y = static_cast<T*>(py);
  const hn::ScalableTag<T> d;
  HWY_ALIGN T maximum[kSoftmaxTileLines], shifted_values[kSoftmaxTileLines];
  double sum[kSoftmaxTileLines] = {};
  std::copy_n(x, width, maximum);
  for (int64_t i = 1; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j)
      maximum[j] = x[i * stride + j] > maximum[j] ? x[i * stride + j] : maximum[j];
  }
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) shifted_values[j] = x[i * stride + j] - maximum[j];
    if (is_log) std::copy_n(shifted_values, width, y + i * stride);
    for (int64_t j = width; j < (width + lanes - 1) / lanes * lanes; ++j) shifted_values[j] = 0;
    for (int64_t j = 0; j < width; j += lanes)
      hn::Store(exponential_of_negative(d, hn::Load(d, shifted_values + j)), d, shifted_values + j);
    if (!is_log) std::copy_n(shifted_values, width, y + i * stride);
    for (int64_t j = 0; j < width; ++j) sum[j] += static_cast<double>(shifted_values[j]);
  }
  for (int64_t j = 0; j < width; ++j)
    shifted_values[j] = static_cast<T>(is_log ? std::log(sum[j]) : 1 / sum[j]);
  for (int64_t i = 0; i < n; ++i) {
    T* row = y + i * stride;
    for (int64_t j = 0; j < width; ++j)
      row[j] = is_log ? row[j] - shifted_values[j] : row[j] * shifted_values[j];
  }
}

/// softmax of a line of bfloat16, computed in float32 and rounded once.
void softmax_half_line(const void* px, void* py, int64_t n, bool is_log) {
  const BFloat16* x = static_cast<const BFloat16*>(px);
  BFloat16* y = static_cast<BFloat16*>(py);
  float maximum = -INFINITY;
  for_each_widened_piece(x, n, [&](const float* piece, int64_t count) {
    maximum = std::max(maximum, maximum_of(piece, count));
  });
  double sum = 0;
  for_each_widened_piece(x, n, [&](const float* piece, int64_t count) {
    sum += exponentials<float>(piece, nullptr, count, maximum);
  });
  const hn::ScalableTag<float> d;
  const auto shift = hn::Set(d, maximum),
             log_of_sum = hn::Set(d, static_cast<float>(std::log(sum))),
             factor = hn::Set(d, static_cast<float>(1 / sum));
  for_vectors(d, n, [&](auto load, auto store) HWY_ATTR {
    const auto shifted = hn::Sub(load(x), shift);
    store(is_log ? hn::Sub(shifted, log_of_sum)
                 : hn::Mul(exponential_of_negative(d, shifted), factor),
          y);
  });
}

template <class T>
constexpr SoftmaxLoops kLoops = {softmax_line<T>, softmax_lines<T>, log_sum<T>, softmax_scaled<T>};

SoftmaxLoops find_softmax(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return kLoops<float>;
    case DType::float64:
      return kLoops<double>;
    case DType::bfloat16:
      return {softmax_half_line, nullptr, nullptr, nullptr};
    default:
      return {};
  }
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_softmax);

SoftmaxLoops softmax_loops(DType dtype) { return HWY_DYNAMIC_DISPATCH(find_softmax)(dtype); }

}  // namespace crescent::cpu
#endif
