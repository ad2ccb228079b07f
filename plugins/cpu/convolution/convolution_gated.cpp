// The gradient of an image that a relu produced: a convolution computes the gradient, then an
// elementwise kernel sets it to 0 where the relu gave 0.
#include <algorithm>

#include "convolution/convolution.h"
#include "elementwise/elementwise.h"

namespace crescent::cpu {
namespace {

constexpr double kZero = 0;  ///< the bytes of the number 0, which are the same in every dtype

class ReluMaskedConvolution final : public cpu::Kernel {
 public:
  ReluMaskedConvolution(std::unique_ptr<Kernel> convolution, std::unique_ptr<Kernel> mask_kernel)
      : convolution_(std::move(convolution)), mask_kernel_(std::move(mask_kernel)) {}
  void run(const Arguments& a) const override {
    convolution_->run(a);
    const std::byte* inputs[] = {a.inputs[2], a.outputs[0],
                                 reinterpret_cast<const std::byte*>(&kZero)};
    mask_kernel_->run({inputs, a.outputs, a.scratch, a.threads});
  }
  std::string name() const override { return convolution_->name(); }
  size_t scratch_bytes() const override {
    return std::max(convolution_->scratch_bytes(), mask_kernel_->scratch_bytes());
  }
  double flops() const override { return convolution_->flops(); }

 private:
  std::unique_ptr<Kernel> convolution_, mask_kernel_;
};

/// Makes the elementwise kernel (y, dx, 0) -> y > 0 ? dx : 0.
std::unique_ptr<Kernel> make_mask_kernel(const TensorSpec& dx, const Options& options) {
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
  const Request unmasked{base_of(r.op), r.inputs.first(2), r.outputs, r.options};
  for (const KernelEntry& entry : convolution_kernels()) {
    if (unmasked.op.name() != entry.op) continue;
    if (auto kernel = entry.make(unmasked))
      return std::make_unique<ReluMaskedConvolution>(std::move(kernel),
                                                     make_mask_kernel(r.outputs[0], r.options));
  }
  return nullptr;
}

}  // namespace crescent::cpu
