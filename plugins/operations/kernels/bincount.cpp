// Kernels that count the numbers in each bin.
#include <algorithm>

#include "crescent/device/cpu_kernel.h"
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"
#include "crescent/tensor/with_type.h"

namespace crescent::operations {
namespace {

/// Finds the bin of a number between sorted edges; -1 if there is none. A first guess assumes bins
/// of equal width and is then corrected by the edges.
template <class T>
class Bins {
 public:
  Bins(const T* edges, int64_t bin_count)
      : edges_(edges),
        bin_count_(bin_count),
        bins_per_unit_(static_cast<double>(bin_count) /
                       (static_cast<double>(edges[bin_count]) - static_cast<double>(edges[0]))) {}
  int64_t operator()(T x) const {
    if (!(x >= edges_[0] && x <= edges_[bin_count_])) return -1;
    const double guessed_bin =
        (static_cast<double>(x) - static_cast<double>(edges_[0])) * bins_per_unit_;
    int64_t bin = std::clamp<int64_t>(static_cast<int64_t>(guessed_bin), 0, bin_count_ - 1);
    while (bin > 0 && x < edges_[bin]) --bin;
    while (bin + 1 < bin_count_ && x >= edges_[bin + 1]) ++bin;
    return bin;
  }

 private:
  const T* edges_;
  int64_t bin_count_;
  double bins_per_unit_;
};

/// Adds to `counts` the number of elements of x in each bin.
template <class T>
void count_numbers(const T* x, int64_t n, const T* edges, int64_t count, int32_t* counts) {
  if (edges) {
    const Bins<T> bins(edges, count);
    for (int64_t i = 0; i < n; ++i)
      if (const int64_t bin = bins(x[i]); bin >= 0) ++counts[bin];
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const auto number = static_cast<int64_t>(x[i]);
    if (number >= 0 && number < count) ++counts[number];
  }
}

class BincountKernel final : public CpuKernel {
 public:
  static void describe(Schema<BincountKernel>& s) {
    s.doc("Runs on several threads, each with a part of the numbers.");
  }
  bool prepare(const CpuRequest& r) override {
    bin_count_ = r.op_as<Bincount>()->count;
    dtype_ = r.inputs[0].dtype, number_count_ = r.inputs[0].shape.size();
    has_edges_ = r.inputs.size() > 1;
    constexpr int64_t kMinPartNumbers = 65536, kMaxParts = 16;
    // The numbers are divided into parts with separate counts; each part has at least as many
    // numbers as there are bins.
    part_count_ =
        std::clamp<int64_t>(number_count_ / std::max(kMinPartNumbers, bin_count_), 1, kMaxParts);
    return true;
  }
  size_t scratch_bytes() const override { return part_count_ * bin_count_ * sizeof(int32_t); }
  void run(const CpuArguments& a) override {
    auto* counts = reinterpret_cast<int32_t*>(a.scratch);
    std::fill_n(counts, part_count_ * bin_count_, 0);
    with_type(dtype_, [&]<class T>(T) {
      a.threads.parallel(part_count_, [&](int64_t part, int) {
        const int64_t begin = number_count_ * part / part_count_,
                      end = number_count_ * (part + 1) / part_count_;
        count_numbers<T>(a.in<T>(0) + begin, end - begin, has_edges_ ? a.in<T>(1) : nullptr,
                         bin_count_, counts + part * bin_count_);
      });
    });
    auto* result = a.out<int32_t>(0);
    for (int64_t i = 0; i < bin_count_; ++i) {
      result[i] = 0;
      for (int64_t part = 0; part < part_count_; ++part) result[i] += counts[part * bin_count_ + i];
    }
  }

 private:
  DType dtype_ = DType::float32;
  bool has_edges_ = false;
  int64_t bin_count_ = 0, number_count_ = 0, part_count_ = 1;
};

}  // namespace

CRESCENT_REGISTER(bincount_kernel) { registry.add<BincountKernel>(Bincount::kName); }

}  // namespace crescent::operations
