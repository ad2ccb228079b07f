#include "distances.h"

#include <algorithm>
#include <cmath>

#include "clones.h"
#include "crescent/cpu_kernel.h"

namespace crescent::operations {
namespace {

/// Of x from each of the rows y. By differences: products would lose what is near.
template <class T>
CRESCENT_IN_CLONES void distances_from(const T* x, const T* y, int64_t rows, int64_t width, T* to) {
  constexpr int64_t kLanes = 16;
  for (int64_t r = 0; r < rows; ++r, y += width) {
    T sums[kLanes] = {}, sum = 0;
    int64_t i = 0;
    for (; i + kLanes <= width; i += kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const T apart = x[i + lane] - y[i + lane];
        sums[lane] += apart * apart;
      }
    for (; i < width; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    to[r] = std::sqrt(sums[0] + sum);
  }
}

CRESCENT_CLONES(float_distances, distances_from,
                (const float* x, const float* y, int64_t rows, int64_t width, float* to),
                (x, y, rows, width, to))
CRESCENT_CLONES(double_distances, distances_from,
                (const double* x, const double* y, int64_t rows, int64_t width, double* to),
                (x, y, rows, width, to))

auto loop_of(float) { return float_distances; }
auto loop_of(double) { return double_distances; }

/// (x (n, d), y (m, d)) -> (n, m)
struct Distances final : OpOf<Distances> {
  static constexpr const char* kName = "operations.distances";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {{in[0].dtype, {in[0].shape[0], in[1].shape[0]}}};
  }
  Tensors decompose(std::span<const Tensor> in) const override;
};

/// Those of zero have no slope.
Tensor by_broadcasting(const Tensor& x, const Tensor& y) {
  const Tensor apart = ops::expand_dims(x, -2) - ops::expand_dims(y, -3);
  const Tensor square = ops::sum(ops::square(apart), {-1});
  const Tensor zero = ops::equal(square, 0);
  return ops::where(zero, 0.0, ops::sqrt(ops::where(zero, 1.0, square)));
}

Tensors Distances::decompose(std::span<const Tensor> in) const {
  return {by_broadcasting(in[0], in[1])};
}

class DistancesKernel final : public CpuKernel {
 public:
  static void describe(Schema<DistancesKernel>& s) { s.doc("Some rows of x a thread."); }
  bool prepare(const CpuRequest& r) override {
    dtype_ = r.inputs[0].dtype;
    rows_ = r.inputs[0].shape[0], others_ = r.inputs[1].shape[0], width_ = r.inputs[0].shape[1];
    return dtype_ == DType::float32 || dtype_ == DType::float64;
  }
  void run(const CpuArguments& a) override {
    dtype_ == DType::float32 ? run_as<float>(a) : run_as<double>(a);
  }
  double flops() const override {
    return 3 * static_cast<double>(rows_ * others_) * static_cast<double>(width_);
  }

 private:
  /// Tiles of rows, so that some of y stay in the cache for several of x.
  template <class T>
  void run_as(const CpuArguments& a) const {
    constexpr int64_t kWork = 16384, kTile = 8192;  // elements
    const int64_t tile = std::max<int64_t>(1, kTile / std::max<int64_t>(width_, 1));
    const int64_t each = std::max<int64_t>(1, others_ * width_);
    const auto loop = loop_of(T());
    a.threads.blocks(
        rows_, std::clamp<int64_t>(kWork / each, 1, 64), [&](int64_t begin, int64_t end) {
          for (int64_t first = 0; first < others_; first += tile)
            for (int64_t row = begin; row < end; ++row)
              loop(a.in<T>(0) + row * width_, a.in<T>(1) + first * width_,
                   std::min(tile, others_ - first), width_, a.out<T>(0) + row * others_ + first);
        });
  }
  DType dtype_ = DType::float32;
  int64_t rows_ = 0, others_ = 0, width_ = 0;
};

}  // namespace

Tensor distances(const Tensor& x, const Tensor& y) {
  const bool plain = x.rank() == 2 && y.rank() == 2 && x.dim(1) == y.dim(1) && x.dim(1) >= 0;
  return plain ? apply1(Distances{}, {x, y}) : by_broadcasting(x, y);
}

void add_distances_kernel(Registry& registry) { registry.add<DistancesKernel>(Distances::kName); }

}  // namespace crescent::operations
