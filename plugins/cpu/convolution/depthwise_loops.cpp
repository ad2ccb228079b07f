#include "convolution/depthwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convolution/depthwise_loops.cpp"
#include <hwy/foreach_target.h>

#include "kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kTaps = 3;  // number of taps in each row of a window
// The distance, in elements, from a read to the element that the loops prefetch.
constexpr int64_t kPrefetchAhead = 8192 / sizeof(float);

template <bool kRelu>
void normalize_row(const float* x, const ChannelNormalization& normal, int64_t columns,
                   int64_t channels, float* y) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* prefetched = x + kPrefetchAhead;
  for (int64_t j = 0; j < columns; ++j, x += channels, y += channels) {
    for_vectors(d, channels, [&](auto load, auto store) HWY_ATTR {
      __builtin_prefetch(prefetched), prefetched += lanes;
      const auto normalized = hn::Mul(hn::Sub(load(x), load(normal.mean)), load(normal.rstd)),
                 result = hn::MulAdd(normalized, load(normal.gamma), load(normal.beta));
      store(kRelu ? activate(d, result, ActivationKind::relu) : result, y);
    });
  }
}
void normalize(const float* x, const ChannelNormalization& normal, int64_t columns,
               int64_t channels, float* y) {
  (normal.relu ? normalize_row<true> : normalize_row<false>)(x, normal, columns, channels, y);
}

void compute_output_gradient(const float* y, const float* dnormal,
                             const ChannelNormalizationGradient& g, int64_t columns,
                             int64_t channels, float* dy) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const float *prefetched = y + kPrefetchAhead, *second_prefetched = dnormal + kPrefetchAhead;
  for (int64_t j = 0; j < columns; ++j) {
    for_vectors(d, channels, [&](auto load, auto store) HWY_ATTR {
      __builtin_prefetch(prefetched), __builtin_prefetch(second_prefetched);
      prefetched += lanes, second_prefetched += lanes;
      const auto subtracted =
          hn::MulAdd(hn::Sub(load(y), load(g.mean)), load(g.slope), load(g.offset));
      store(hn::MulSub(load(g.scale), load(dnormal), subtracted), dy);
    });
    y += channels, dnormal += channels, dy += channels;
  }
}

/// Calls f(row, column) for all taps of the window.
template <class F>
HWY_INLINE void for_each_tap(F&& f) {
#pragma GCC unroll 4
  for (int k = 0; k < kTaps; ++k) {
#pragma GCC unroll 4
    for (int l = 0; l < kTaps; ++l) f(k, l);
  }
}

template <int kStep>
void convolve_row(const DepthwiseRowArguments& row, WindowRows x, float* y) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t c = row.channels, lanes = static_cast<int64_t>(hn::Lanes(d));
  const float *x0 = x[0] - row.pad_left * c, *x1 = x[1] - row.pad_left * c,
              *x2 = x[2] - row.pad_left * c, *prefetched = row.prefetched_row;
  for_vectors(d, c, [&](auto load, auto store) HWY_ATTR {
    V w[kTaps][kTaps];
    for_each_tap([&](int k, int l) HWY_ATTR { w[k][l] = load(row.kernel + (k * kTaps + l) * c); });
    for (int64_t j = 0; j < row.columns; ++j) {
      const int64_t offset = j * kStep * c;
#pragma GCC unroll 4
      for (int e = 0; e < kStep * kStep; ++e, prefetched += lanes) __builtin_prefetch(prefetched);
      V sum = hn::Mul(load(x0 + offset), w[0][0]);
      sum = hn::MulAdd(load(x0 + offset + c), w[0][1], sum);
      sum = hn::MulAdd(load(x0 + offset + 2 * c), w[0][2], sum);
#pragma GCC unroll 4
      for (int l = 0; l < kTaps; ++l) sum = hn::MulAdd(load(x1 + offset + l * c), w[1][l], sum);
#pragma GCC unroll 4
      for (int l = 0; l < kTaps; ++l) sum = hn::MulAdd(load(x2 + offset + l * c), w[2][l], sum);
      store(sum, y + j * c);
    }
  });
}

template <int kStep>
void add_kernel_gradient_row(const DepthwiseRowArguments& row, WindowRows x, const float* dy,
                             float* dkernel) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t c = row.channels, lanes = static_cast<int64_t>(hn::Lanes(d));
  const float *x0 = x[0] - row.pad_left * c, *x1 = x[1] - row.pad_left * c,
              *x2 = x[2] - row.pad_left * c, *prefetched = row.prefetched_row,
              *second_prefetched = row.second_prefetched_row;
  for_vectors(d, c, [&](auto load, auto store) HWY_ATTR {
    V sum[kTaps][kTaps];
    for_each_tap([&](int k, int l) HWY_ATTR { sum[k][l] = load(dkernel + (k * kTaps + l) * c); });
    for (int64_t j = 0; j < row.columns; ++j) {
      const int64_t offset = j * kStep * c;
      __builtin_prefetch(prefetched), __builtin_prefetch(second_prefetched);
      prefetched += lanes, second_prefetched += lanes;
      const V g = load(dy + j * c);
#pragma GCC unroll 4
      for (int l = 0; l < kTaps; ++l) {
        sum[0][l] = hn::MulAdd(load(x0 + offset + l * c), g, sum[0][l]);
        sum[1][l] = hn::MulAdd(load(x1 + offset + l * c), g, sum[1][l]);
        sum[2][l] = hn::MulAdd(load(x2 + offset + l * c), g, sum[2][l]);
      }
    }
    for_each_tap([&](int k, int l) HWY_ATTR { store(sum[k][l], dkernel + (k * kTaps + l) * c); });
  });
}

/// Computes a row of dx for windows that are kStep pixels apart. Window rows kFirst, kFirst +
/// kStep, ... cover the row; a window column covers a pixel if both have the same remainder modulo
/// kStep.
template <int kStep, int kFirst>
void compute_data_gradient_row(const DepthwiseRowArguments& row, WindowRows dy, const float* gate,
                               const float* x, const float* mean, float* dx, float* sums,
                               float* products) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t c = row.channels, lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* prefetched = row.prefetched_row;
  for_vectors(d, c, [&](auto load, auto store) HWY_ATTR {
    V w[kTaps][kTaps];
    for_each_tap([&](int k, int l) HWY_ATTR { w[k][l] = load(row.kernel + (k * kTaps + l) * c); });
    V total = load(sums), dot = load(products);
    const V center = load(mean);
    const float* const rows[] = {dy[0], dy[1], dy[2]};
    auto pixel = [&]<int kColumn>(std::integral_constant<int, kColumn>, int64_t j) HWY_ATTR {
      V sum = hn::Zero(d);
      const int64_t offset = (j + row.pad_left - kColumn) / kStep * c;
#pragma GCC unroll 4
      for (int k = kFirst; k < kTaps; k += kStep) {
#pragma GCC unroll 4
        for (int l = kColumn; l < kTaps; l += kStep)
          sum = hn::MulAdd(load(rows[k] + offset - (l - kColumn) / kStep * c), w[k][l], sum);
      }
      sum = hn::IfThenElseZero(hn::Gt(load(gate + j * c), hn::Zero(d)), sum);
      total = hn::Add(total, sum);
      dot = hn::MulAdd(sum, hn::Sub(load(x + j * c), center), dot);
      __builtin_prefetch(prefetched), prefetched += lanes;
      store(sum, dx + j * c);
    };
    int64_t j = 0;
    if constexpr (kStep == 1) {
      for (; j < row.columns; ++j) pixel(std::integral_constant<int, 0>(), j);
    } else {
      if (row.pad_left == 1) pixel(std::integral_constant<int, 1>(), j++);
      for (; j + 2 <= row.columns; j += 2)
        pixel(std::integral_constant<int, 0>(), j), pixel(std::integral_constant<int, 1>(), j + 1);
      if (j < row.columns) pixel(std::integral_constant<int, 0>(), j);
    }
    store(total, sums), store(dot, products);
  });
}

void convolve(const DepthwiseRowArguments& row, WindowRows x, float* y) {
  row.step == 1 ? convolve_row<1>(row, x, y) : convolve_row<2>(row, x, y);
}
void add_kernel_gradient(const DepthwiseRowArguments& row, WindowRows x, const float* dy,
                         float* dkernel) {
  row.step == 1 ? add_kernel_gradient_row<1>(row, x, dy, dkernel)
                : add_kernel_gradient_row<2>(row, x, dy, dkernel);
}
void compute_data_gradient(const DepthwiseRowArguments& row, WindowRows dy, const float* gate,
                           const float* x, const float* mean, float* dx, float* sum,
                           float* product) {
  const auto loop = row.step == 1 ? compute_data_gradient_row<1, 0>
                    : dy[0]       ? compute_data_gradient_row<2, 0>
                                  : compute_data_gradient_row<2, 1>;
  loop(row, dy, gate, x, mean, dx, sum, product);
}

DepthwiseLoops all_loops() {
  return {normalize, compute_output_gradient, convolve, add_kernel_gradient, compute_data_gradient};
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {
HWY_EXPORT(all_loops);
DepthwiseLoops depthwise_loops() { return HWY_DYNAMIC_DISPATCH(all_loops)(); }
}  // namespace crescent::cpu
#endif
