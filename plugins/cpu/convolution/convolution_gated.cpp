// The gradient of an image that a relu produced: a convolution computes the gradient, then an
// elementwise kernel sets it to 0 where the relu gave 0.
#include <algorithm>

#include "convolution/convolution.h"
#include "elementwise/elementwise.h"

namespace crescent::cpu {
namespace {

constexpr double kZero = 0;  ///< the bytes of the number 0, which are the same in every dtype

class ReluMasked final : public cpu::Kernel {
 public:
  ReluMasked(std::unique_ptr<Kernel> inner, std::unique_ptr<Kernel> gate)
      : inner_(std::move(inner)), gate_(std::move(gate)) {}
  void run(const Arguments& a) const override {
    inner_->run(a);
    const std::byte* inputs[] = {a.inputs[2], a.outputs[0],
                                 reinterpret_cast<const std::byte*>(&kZero)};
    gate_->run({inputs, a.outputs, a.scratch, a.threads});
  }
  std::string name() const override { return inner_->name(); }
  size_t scratch_bytes() const override {
    return std::max(inner_->scratch_bytes(), gate_->scratch_bytes());
  }
  double flops() const override { return inner_->flops(); }

 private:
  std::unique_ptr<Kernel> inner_, gate_;
};

/// Makes the elementwise kernel (y, dx, 0) -> y > 0 ? dx : 0.
std::unique_ptr<Kernel> make_gate(const TensorSpec& dx, const Options& options) {
  Fused op;
  op.shape = dx.shape, op.outputs = {4};
  op.steps = {{FusedStep::Kind::binary, {}, BinaryKind::greater, DType::boolean, {0, 2, 0}},
              {FusedStep::Kind::select, {}, {}, dx.dtype, {3, 1, 2}}};
  const TensorSpec inputs[] = {dx, dx, {dx.dtype, {}}};
  return Elementwise::make({op, inputs, {&dx, 1}, options});
}

}  // namespace

std::unique_ptr<Kernel> make_relu_masked_convolution(const Request& r) {
  if (!ConvPlan(r).is_relu_masked) return nullptr;
  const Request inner{base_of(r.op), r.inputs.first(2), r.outputs, r.options};
  for (const KernelEntry& row : convolution_kernels()) {
    if (inner.op.name() != row.op) continue;
    if (auto kernel = row.make(inner))
      return std::make_unique<ReluMasked>(std::move(kernel), make_gate(r.outputs[0], r.options));
  }
  return nullptr;
}

}  // namespace crescent::cpu
