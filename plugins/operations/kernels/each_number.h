// The kernel of an op that computes its result number by number, from inputs of the result's shape
// and dtype: some of them a thread. Such an op has
//   void range(DType, const std::byte* const* in, std::byte* out, int64_t begin, int64_t end)
//   const;
#pragma once
#include "crescent/device/cpu_kernel.h"
#include "crescent/tensor/tensor.h"

namespace crescent::operations {

template <class Op>
class EachNumberKernel final : public CpuKernel {
 public:
  static void describe(Schema<EachNumberKernel>& s) { s.doc("Some numbers a thread."); }
  bool prepare(const CpuRequest& r) override {
    op_ = *r.op_as<Op>();
    dtype_ = r.inputs[0].dtype, size_ = r.outputs[0].shape.size();
    return true;
  }
  void run(const CpuArguments& a) override {
    constexpr int64_t kNumbers = 8192;
    a.threads.blocks(size_, kNumbers, [&](int64_t begin, int64_t end) {
      op_.range(dtype_, a.inputs, a.outputs[0], begin, end);
    });
  }
  bool in_place(int) const override { return true; }

 private:
  Op op_;
  DType dtype_ = DType::float32;
  int64_t size_ = 0;
};

/// compute() of such an op.
template <class Op>
bool compute_each(const Op& op, std::span<const Tensor> in, std::span<Tensor> out) {
  const std::byte* inputs[2] = {};
  for (size_t i = 0; i < in.size(); ++i) inputs[i] = static_cast<const std::byte*>(in[i].raw());
  op.range(in[0].dtype(), inputs, static_cast<std::byte*>(out[0].mutable_raw()), 0, in[0].size());
  return true;
}

}  // namespace crescent::operations
