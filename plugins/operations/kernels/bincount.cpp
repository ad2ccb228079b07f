#include "bincount.h"

#include <algorithm>

#include "../shared/host.h"
#include "crescent/device/cpu_kernel.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

/// The bin of a number between the edges; -1: none. A guess by the width of the bins is put right
/// by the edges themselves.
template <class T>
class Bins {
 public:
  Bins(const T* edges, int64_t count)
      : edges_(edges),
        count_(count),
        each_(static_cast<double>(count) /
              (static_cast<double>(edges[count]) - static_cast<double>(edges[0]))) {}
  int64_t operator()(T x) const {
    if (!(x >= edges_[0] && x <= edges_[count_])) return -1;
    const double guess = (static_cast<double>(x) - static_cast<double>(edges_[0])) * each_;
    int64_t bin = std::clamp<int64_t>(static_cast<int64_t>(guess), 0, count_ - 1);
    while (bin > 0 && x < edges_[bin]) --bin;
    while (bin + 1 < count_ && x >= edges_[bin + 1]) ++bin;
    return bin;
  }

 private:
  const T* edges_;
  int64_t count_;
  double each_;
};

/// (x) or (x, edges) -> how many are in each bin.
struct Bincount final : OpOf<Bincount> {
  static constexpr const char* kName = "operations.bincount";
  int64_t count = 0;
  auto fields() const { return std::tie(count); }
  TensorSpecs infer(std::span<const TensorSpec>) const override {
    return {{DType::int32, {count}}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    auto* counts = out[0].mutable_data<int32_t>();
    std::fill_n(counts, count, 0);
    with_type(in[0].dtype(), [&]<class T>(T) {
      add<T>(in[0].data<T>(), in.size() > 1 ? in[1].data<T>() : nullptr, in[0].size(), counts);
    });
    return true;
  }
  template <class T>
  void add(const T* x, const T* edges, int64_t n, int32_t* counts) const {
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
};

class BincountKernel final : public CpuKernel {
 public:
  static void describe(Schema<BincountKernel>& s) {
    s.doc("Parts of the numbers, each by itself.");
  }
  bool prepare(const CpuRequest& r) override {
    op_ = *r.op_as<Bincount>();
    dtype_ = r.inputs[0].dtype, size_ = r.inputs[0].shape.size();
    has_edges_ = r.inputs.size() > 1;
    constexpr int64_t kPart = 65536, kMost = 16;
    // The counts of a part are not to be more than its numbers.
    parts_ = std::clamp<int64_t>(size_ / std::max(kPart, op_.count), 1, kMost);
    return true;
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(parts_ * op_.count) * sizeof(int32_t);
  }
  void run(const CpuArguments& a) override {
    auto* counts = reinterpret_cast<int32_t*>(a.scratch);
    std::fill_n(counts, parts_ * op_.count, 0);
    with_type(dtype_, [&]<class T>(T) {
      a.threads.parallel(parts_, [&](int64_t part, int) {
        const int64_t begin = size_ * part / parts_, end = size_ * (part + 1) / parts_;
        op_.add<T>(a.in<T>(0) + begin, has_edges_ ? a.in<T>(1) : nullptr, end - begin,
                   counts + part * op_.count);
      });
    });
    auto* to = a.out<int32_t>(0);
    for (int64_t i = 0; i < op_.count; ++i) {
      to[i] = 0;
      for (int64_t part = 0; part < parts_; ++part) to[i] += counts[part * op_.count + i];
    }
  }

 private:
  Bincount op_;
  DType dtype_ = DType::float32;
  bool has_edges_ = false;
  int64_t size_ = 0, parts_ = 1;
};

Tensor computable(const Tensor& x) {
  const bool half = x.dtype() == DType::bfloat16 || x.dtype() == DType::float16;
  return half ? ops::cast(x, DType::float32) : x;
}

}  // namespace

Tensor apply_bincount(const Tensor& x, int64_t count) {
  Bincount op;
  op.count = count;
  return apply1(op, {computable(x)});
}

Tensor apply_histogram(const Tensor& x, const Tensor& edges) {
  Bincount op;
  op.count = edges.dim(0) - 1;
  return apply1(op, {computable(x), computable(edges)});
}

CRESCENT_REGISTER(bincount_kernel) { registry.add<BincountKernel>(Bincount::kName); }

}  // namespace crescent::operations
