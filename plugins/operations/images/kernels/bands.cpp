// A kernel that resizes an axis of images: each new element is a weighted sum of a few neighbouring
// elements.
#include <algorithm>
#include <cstring>

#include "../../kernels/clones.h"
#include "crescent/device/cpu_kernel.h"
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

/// Computes y[i] = the sum of w[t] x[t * inner_size + i] over t < taps, for `count` vectors of i;
/// there is at least one tap.
template <int count, class V, class T>
CRESCENT_IN_CLONES void sum_vectors(const T* x, int64_t inner_size, const T* w, int64_t taps,
                                    T* y) {
  constexpr auto kLanes = static_cast<int64_t>(sizeof(V) / sizeof(T));
  V sums[count], element;
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) {
    std::memcpy(&element, x + v * kLanes, sizeof element);
    sums[v] = element * w[0];
  }
  for (int64_t t = 1; t < taps; ++t)
#pragma GCC unroll 4
    for (int v = 0; v < count; ++v) {
      std::memcpy(&element, x + t * inner_size + v * kLanes, sizeof element);
      sums[v] = sums[v] + element * w[t];
    }
    // The vectors are stored one by one, because a copy of the array would keep it in memory.
#pragma GCC unroll 4
  for (int v = 0; v < count; ++v) std::memcpy(y + v * kLanes, &sums[v], sizeof sums[v]);
}

/// Computes the sums of sum_vectors() for all i < inner_size.
template <class T>
CRESCENT_IN_CLONES void sum_lines(const T* x, int64_t inner_size, const T* w, int64_t taps, T* y) {
  typedef T V __attribute__((vector_size(64)));
  typedef T Half __attribute__((vector_size(32)));
  constexpr auto kLanes = static_cast<int64_t>(sizeof(V) / sizeof(T));
  int64_t i = 0;
  for (; i + 4 * kLanes <= inner_size; i += 4 * kLanes)
    sum_vectors<4, V>(x + i, inner_size, w, taps, y + i);
  for (; i + kLanes <= inner_size; i += kLanes)
    sum_vectors<1, V>(x + i, inner_size, w, taps, y + i);
  for (; i + kLanes / 2 <= inner_size; i += kLanes / 2)
    sum_vectors<1, Half>(x + i, inner_size, w, taps, y + i);
  for (; i < inner_size; ++i) {
    y[i] = x[i] * w[0];
    for (int64_t t = 1; t < taps; ++t) y[i] = y[i] + x[t * inner_size + i] * w[t];
  }
}

/// Computes the sums of sum_lines() for a small number of channels that is known at compile time,
/// so that the sums stay in registers.
template <int channels, class T>
CRESCENT_IN_CLONES void sum_channels(const T* x, const T* w, int64_t taps, T* y) {
  T sums[channels] = {};
  for (int64_t t = 0; t < taps; ++t)
    for (int c = 0; c < channels; ++c) sums[c] = sums[c] + x[t * channels + c] * w[t];
  for (int c = 0; c < channels; ++c) y[c] = sums[c];
}

/// Computes elements [begin, end) of the resized axis from x (elements of the old axis,
/// inner_size).
template <class T>
CRESCENT_IN_CLONES void map_elements(const T* x, const int32_t* first, const T* weights,
                                     int64_t taps, int64_t inner_size, int64_t begin, int64_t end,
                                     T* y) {
  for (int64_t j = begin; j < end; ++j) {
    const T *from = x + first[j] * inner_size, *w = weights + j * taps;
    T* to = y + j * inner_size;
    switch (inner_size) {  // the usual numbers of channels have loops compiled for them
      case 1:
        sum_channels<1>(from, w, taps, to);
        break;
      case 3:
        sum_channels<3>(from, w, taps, to);
        break;
      case 4:
        sum_channels<4>(from, w, taps, to);
        break;
      default:
        sum_lines(from, inner_size, w, taps, to);
    }
  }
}

#define CRESCENT_MAP_PARAMETERS(T)                                                       \
  (const T* x, const int32_t* first, const T* weights, int64_t taps, int64_t inner_size, \
   int64_t begin, int64_t end, T* y)
CRESCENT_CLONES(map_floats, map_elements, CRESCENT_MAP_PARAMETERS(float),
                (x, first, weights, taps, inner_size, begin, end, y))
CRESCENT_CLONES(map_doubles, map_elements, CRESCENT_MAP_PARAMETERS(double),
                (x, first, weights, taps, inner_size, begin, end, y))
#undef CRESCENT_MAP_PARAMETERS

auto map_loop(float) { return map_floats; }
auto map_loop(double) { return map_doubles; }

class BandedMatmulKernel final : public CpuKernel {
 public:
  static void describe(Schema<BandedMatmulKernel>& s) {
    s.doc("Runs on several threads, each with some elements of the axis.");
  }
  bool prepare(const CpuRequest& r) override {
    op_ = *r.op_as<BandedMatmul>();
    const Shape& x = r.inputs[0].shape;
    outer_size_ = x.slice(0, op_.axis).size(), inner_size_ = x.slice(op_.axis + 1, x.rank()).size();
    float_weights_.assign(op_.weights.begin(), op_.weights.end());
    is_float64_ = r.inputs[0].dtype == DType::float64;
    return true;
  }
  void run(const CpuArguments& a) override {
    is_float64_ ? run_as(a, op_.weights.data()) : run_as(a, float_weights_.data());
  }
  double flops() const override {
    return 2 * static_cast<double>(outer_size_ * inner_size_) *
           static_cast<double>(op_.weights.size());
  }

 private:
  /// Divides the work into blocks, each within a single index of the outer axes.
  template <class T>
  void run_as(const CpuArguments& a, const T* weights) const {
    constexpr int64_t kBlockElements = 16384;  ///< elements per block
    const auto map = map_loop(T());
    const auto new_length = static_cast<int64_t>(op_.first.size());
    const int64_t element_cost = std::max<int64_t>(1, inner_size_ * op_.taps());
    a.threads.blocks(outer_size_ * new_length, std::max<int64_t>(1, kBlockElements / element_cost),
                     [&](int64_t begin, int64_t end) {
                       while (begin < end) {
                         const int64_t outer_index = begin / new_length,
                                       block_end = std::min((outer_index + 1) * new_length, end);
                         map(a.in<T>(0) + outer_index * op_.from * inner_size_, op_.first.data(),
                             weights, op_.taps(), inner_size_, begin - outer_index * new_length,
                             block_end - outer_index * new_length,
                             a.out<T>(0) + outer_index * new_length * inner_size_);
                         begin = block_end;
                       }
                     });
  }

  BandedMatmul op_;
  std::vector<float> float_weights_;
  int64_t outer_size_ = 0, inner_size_ = 0;
  bool is_float64_ = false;
};

}  // namespace

CRESCENT_REGISTER(band_kernel) { registry.add<BandedMatmulKernel>(BandedMatmul::kName); }

}  // namespace crescent::operations
