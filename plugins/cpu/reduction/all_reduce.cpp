// The kernels of AllReduce: sums, means and extremes over processes. The communicator computes them
// in the memory of the result. A mean is a sum divided by the number of processes at the time of
// the run.
#include <cstring>

#include "crescent/program/communicator.h"
#include "kernel/converted.h"
#include "kernel/kernel.h"
#include "reduction/shards.h"

namespace crescent::cpu {
namespace {

template <class T>
void divide(std::byte* values, size_t count, int divisor) {
  T* x = reinterpret_cast<T*>(values);
  for (size_t i = 0; i < count; ++i) x[i] /= static_cast<T>(divisor);
}

class AllReduceKernel final : public Kernel {
 public:
  explicit AllReduceKernel(const Request& r)
      : kind_(static_cast<const AllReduce&>(r.op).kind),
        dtype_(r.inputs[0].dtype),
        count_(r.inputs[0].shape.size()) {}

  void run(const Arguments& a) const override {
    std::byte* const result = a.outputs[0];
    if (count_ > 0 && result != a.inputs[0])
      std::memcpy(result, a.inputs[0], count_ * size_of(dtype_));
    const std::shared_ptr<Communicator> processes = communicator();
    if (kind_ != ReduceKind::mean) return processes->all_reduce(kind_, dtype_, result, count_);
    processes->all_reduce(ReduceKind::sum, dtype_, result, count_);
    dtype_ == DType::float32 ? divide<float>(result, count_, processes->size())
                             : divide<double>(result, count_, processes->size());
  }
  std::string name() const override { return "communicator"; }
  bool in_place(int /*input*/) const override { return true; }

 private:
  ReduceKind kind_;
  DType dtype_;
  size_t count_;
};

bool is_wide(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

/// Returns null for means of half-width floats; the next entry of the kernel table computes these
/// in float32.
std::unique_ptr<Kernel> make_all_reduce(const Request& r) {
  const bool is_mean = static_cast<const AllReduce&>(r.op).kind == ReduceKind::mean;
  if (is_mean && !is_wide(r.inputs[0].dtype)) return nullptr;
  return std::make_unique<AllReduceKernel>(r);
}

}  // namespace

std::span<const KernelEntry> collective_kernels() {
  static constexpr KernelEntry kEntries[] = {{"all_reduce", make_all_reduce},
                                             {"all_reduce", make_converted<collective_kernels>},
                                             {"all_gather", make_all_gather},
                                             {"shard_slice", make_shard_slice},
                                             {"shard_concat", make_shard_concat},
                                             {"shard_reduce", make_shard_reduce},
                                             {"shard_reduce", make_converted<collective_kernels>}};
  return kEntries;
}

}  // namespace crescent::cpu
