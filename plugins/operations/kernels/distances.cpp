// Kernels of the distances between rows of two matrices.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "clones.h"
#include "crescent/device/cpu_kernel.h"
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

constexpr size_t kVectorBytes = 64;  ///< size of a vector in bytes

template <class T>
constexpr auto kLanes = static_cast<int64_t>(kVectorBytes / sizeof(T));
constexpr int64_t kRows = 6;  ///< number of rows of x that use the same loaded part of a panel

template <class T>
struct DistanceLanes {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};

CRESCENT_IN_CLONES float root(float x) { return __builtin_sqrtf(x); }
CRESCENT_IN_CLONES double root(double x) { return __builtin_sqrt(x); }

/// Computes the distances of `rows` rows of x from the first `count` rows of a panel, as sums of
/// squared differences; with products of the rows, small distances would be lost to rounding.
template <int64_t rows, class T>
CRESCENT_IN_CLONES void compute_panel_distances(const T* x, const T* panel, int64_t width,
                                                int64_t count, int64_t stride, T* to) {
  typedef typename DistanceLanes<T>::type V;
  // The number of squares per partial sum, so that small squares are not lost in a large sum.
  constexpr int64_t kPartLength = 256;
  V squares[rows] = {};
  for (int64_t first = 0; first < width; first += kPartLength) {
    V sums[rows] = {};
    for (int64_t k = first; k < std::min(first + kPartLength, width); ++k) {
      V y;
      std::memcpy(&y, panel + k * kLanes<T>, sizeof y);
#pragma GCC unroll 8
      for (int64_t r = 0; r < rows; ++r) {
        const V difference = y - x[r * width + k];
        sums[r] += difference * difference;
      }
    }
    for (int64_t r = 0; r < rows; ++r) squares[r] += sums[r];
  }
#pragma GCC unroll 8
  for (int64_t r = 0; r < rows; ++r, to += stride) {
    T distances[kLanes<T>];
    std::memcpy(distances, &squares[r], sizeof distances);
    for (T& number : distances) number = root(number);
    if (count == kLanes<T>)
      std::memcpy(to, distances, sizeof distances);
    else
      std::copy_n(distances, count, to);
  }
}

/// Writes the distances of rows of x from the rows of all panels to `to` (rows, others).
template <class T>
CRESCENT_IN_CLONES void compute_distances(const T* x, const T* panels, int64_t rows,
                                          int64_t other_rows, int64_t width, int64_t stride,
                                          T* to) {
  for (; rows > 0; rows -= kRows, x += kRows * width, to += kRows * stride)
    for (int64_t first_other_row = 0; first_other_row < other_rows; first_other_row += kLanes<T>) {
      const int64_t count = std::min(kLanes<T>, other_rows - first_other_row);
      const T* panel = panels + first_other_row * width;
      if (rows >= kRows)
        compute_panel_distances<kRows>(x, panel, width, count, stride, to + first_other_row);
      else
        for (int64_t r = 0; r < rows; ++r)
          compute_panel_distances<1>(x + r * width, panel, width, count, stride,
                                     to + r * stride + first_other_row);
    }
}

#define CRESCENT_DISTANCE_PARAMETERS(T)                                                          \
  (const T* x, const T* panels, int64_t rows, int64_t other_rows, int64_t width, int64_t stride, \
   T* to)
CRESCENT_CLONES(float_distances, compute_distances, CRESCENT_DISTANCE_PARAMETERS(float),
                (x, panels, rows, other_rows, width, stride, to))
CRESCENT_CLONES(double_distances, compute_distances, CRESCENT_DISTANCE_PARAMETERS(double),
                (x, panels, rows, other_rows, width, stride, to))
#undef CRESCENT_DISTANCE_PARAMETERS

auto loop_of(float) { return float_distances; }
auto loop_of(double) { return double_distances; }

/// The kernel of the distances between the rows of x and other rows. It first packs the other rows
/// into panels, in which element k of as many rows as a vector has lanes is contiguous.
class DistancesKernel final : public CpuKernel {
 public:
  static void describe(Schema<DistancesKernel>& s) {
    s.doc("Runs on several threads, each with some rows of x.");
  }
  bool prepare(const CpuRequest& r) override {
    dtype_ = r.inputs[0].dtype;
    rows_ = r.inputs[0].shape[0], other_rows_ = r.inputs[1].shape[0], width_ = r.inputs[0].shape[1];
    return dtype_ == DType::float32 || dtype_ == DType::float64;
  }
  void run(const CpuArguments& a) override {
    dtype_ == DType::float32 ? run_as<float>(a) : run_as<double>(a);
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>((other_rows_ + kLanes<float>)*width_) * size_of(dtype_);
  }
  double flops() const override {
    return 3 * static_cast<double>(rows_ * other_rows_) * static_cast<double>(width_);
  }

 private:
  template <class T>
  void run_as(const CpuArguments& a) const {
    constexpr int64_t kTaskElements = 65536,
                      kTile = 131072;  // numbers of elements per task and per tile
    T* panels = reinterpret_cast<T*>(a.scratch);
    const int64_t lane_count = kLanes<T>, panel_size = std::max<int64_t>(1, width_ * lane_count);
    a.threads.blocks((other_rows_ + lane_count - 1) / lane_count,
                     std::max<int64_t>(1, kTaskElements / panel_size),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) fill_panel(a.in<T>(1), i, panels);
                     });
    // Tiles of the other rows stay in the cache while several rows of x are compared with them.
    const int64_t rows_per_tile = std::max<int64_t>(1, kTile / panel_size) * lane_count;
    const int64_t max_rows =
        std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, other_rows_ * width_));
    const auto distance_loop = loop_of(T());
    a.threads.blocks(
        rows_, (std::min<int64_t>(max_rows, 64) + kRows - 1) / kRows * kRows,
        [&](int64_t begin, int64_t end) {
          for (int64_t first_other_row = 0; first_other_row < other_rows_;
               first_other_row += rows_per_tile)
            distance_loop(a.in<T>(0) + begin * width_, panels + first_other_row * width_,
                          end - begin, std::min(rows_per_tile, other_rows_ - first_other_row),
                          width_, other_rows_, a.out<T>(0) + begin * other_rows_ + first_other_row);
        });
  }
  /// Packs rows into panels; the last panel is padded with zeros.
  template <class T>
  void fill_panel(const T* y, int64_t panel_index, T* panels) const {
    const int64_t first_other_row = panel_index * kLanes<T>;
    T* to = panels + first_other_row * width_;
    for (int64_t k = 0; k < width_; ++k)
      for (int64_t lane = 0; lane < kLanes<T>; ++lane)
        *to++ =
            first_other_row + lane < other_rows_ ? y[(first_other_row + lane) * width_ + k] : T();
  }
  DType dtype_ = DType::float32;
  int64_t rows_ = 0, other_rows_ = 0, width_ = 0;
};

}  // namespace

CRESCENT_REGISTER(distances_kernel) { registry.add<DistancesKernel>(Distances::kName); }

}  // namespace crescent::operations
