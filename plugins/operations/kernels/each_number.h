// The kernel of an elementwise op whose inputs have the shape and dtype of the result, split into
// ranges for threads. A `Loop` is constructed from the op; its function compute_range(dtype,
// inputs, result, begin, end) computes elements [begin, end) of the result.
#pragma once
#include <optional>

#include "crescent/device/cpu_kernel.h"
#include "crescent/tensor/tensor.h"

namespace crescent::operations {

template <class Op, class Loop>
class EachNumberKernel final : public CpuKernel {
 public:
  static void describe(Schema<EachNumberKernel>& s) {
    s.doc("Runs on several threads, each with some numbers.");
  }
  bool prepare(const CpuRequest& r) override {
    loop_.emplace(*r.op_as<Op>());
    dtype_ = r.inputs[0].dtype, size_ = r.outputs[0].shape.size();
    return true;
  }
  void run(const CpuArguments& a) override {
    constexpr int64_t kTaskNumbers = 8192;
    a.threads.blocks(size_, kTaskNumbers, [&](int64_t begin, int64_t end) {
      loop_->compute_range(dtype_, a.inputs, a.outputs[0], begin, end);
    });
  }
  bool in_place(int) const override { return true; }

 private:
  std::optional<Loop> loop_;
  DType dtype_ = DType::float32;
  int64_t size_ = 0;
};

}  // namespace crescent::operations
