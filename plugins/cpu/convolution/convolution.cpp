#include "convolution/convolution.h"

#include "crescent/device/quantized_op_types.h"
#include "kernel/converted.h"

namespace crescent::cpu {
namespace {

struct Operands {
  ConvPass pass;
  const ConvSpec& spec;
  Shape x, kernel, y;
};

Operands operands(const Request& r) {
  const auto& in = r.inputs;
  const Op& base = base_of(r.op);
  if (auto* op = dynamic_cast<const ConvBackwardData*>(&base)) {
    return {ConvPass::backward_data, op->spec, r.outputs[0].shape, in[1].shape, in[0].shape};
  }
  if (auto* op = dynamic_cast<const ConvBackwardKernel*>(&base)) {
    return {ConvPass::backward_kernel, op->spec, in[0].shape, r.outputs[0].shape, in[1].shape};
  }
  auto* int8_op = dynamic_cast<const Int8Conv*>(&base);
  const ConvSpec& spec = int8_op ? int8_op->spec : static_cast<const Conv&>(base).spec;
  return {ConvPass::forward, spec, in[0].shape, in[1].shape, r.outputs[0].shape};
}

/// Makes a kernel with `make`, which does not support mixed precision; null for requests with mixed
/// precision.
template <KernelFactory make>
std::unique_ptr<Kernel> without_mixed_precision(const Request& r) {
  return PostOps(r.op).mixed == Mixed::no ? make(r) : nullptr;
}

/// Makes a kernel with `make`, which supports neither mixed precision nor residuals, moments or
/// masks of a relu (ConvPlan::is_relu_masked); null for requests with one of these.
template <KernelFactory make>
std::unique_ptr<Kernel> without_post_ops(const Request& r) {
  const ConvPlan plan(r);
  return plan.has_residual || plan.has_moments || plan.is_relu_masked ? nullptr : make(r);
}

/// Makes a kernel with `make`, which supports masks of a relu, but neither mixed precision nor
/// residuals or moments; null for requests with one of the latter.
template <KernelFactory make>
std::unique_ptr<Kernel> with_relu_mask(const Request& r) {
  const ConvPlan plan(r);
  return plan.has_residual || plan.has_moments ? nullptr : make(r);
}

}  // namespace

ConvPlan::ConvPlan(const Request& r) {
  const Operands o = operands(r);
  pass = o.pass, dtype = r.inputs[0].dtype, spatial_rank = o.x.rank() - 2;
  for (int i = 0; i < spatial_rank; ++i) {
    axes[3 - spatial_rank + i] = {o.x[i + 1],         o.y[i + 1],         o.kernel[i],
                                  o.spec.strides[i],  o.spec.dilation[i], o.spec.pad_before[i],
                                  o.spec.pad_after[i]};
  }
  batch = o.x[0], groups = o.spec.groups, in_channels = o.x[-1], out_channels = o.y[-1];
  const PostOps post_ops(r.op);
  has_bias = post_ops.has_bias, activation = post_ops.activation,
  has_moments = post_ops.has_moments;
  has_residual = post_ops.combine == Combine::add,
  is_relu_masked = post_ops.combine == Combine::mask;
}

std::span<const KernelEntry> convolution_kernels() {
  static constexpr KernelFactory
      kWinograd = without_mixed_precision<make_winograd_convolution>,
      kPointwise = without_mixed_precision<make_pointwise_convolution>,
      kAmx = without_post_ops<make_amx_convolution>,
      kOnednn = with_relu_mask<make_onednn_convolution>,
      kIm2col = without_mixed_precision<without_post_ops<make_unfolded_convolution>>,
      kConverted = without_mixed_precision<without_post_ops<make_converted<convolution_kernels>>>;
  static constexpr KernelEntry kEntries[] = {{"conv", kWinograd},
                                             {"conv", kPointwise},
                                             {"conv", kAmx},
                                             {"conv", kOnednn},
                                             {"conv", kIm2col},
                                             {"conv", kConverted},
                                             {Int8Conv::kName, make_byte_convolution},
                                             {"conv_pool", make_winograd_pooled_convolution},
                                             {"conv_backward_data", kWinograd},
                                             {"conv_backward_data", kPointwise},
                                             {"conv_backward_data", kAmx},
                                             {"conv_backward_data", kOnednn},
                                             {"conv_backward_data", kIm2col},
                                             {"conv_backward_data", kConverted},
                                             {"conv_backward_data", make_relu_masked_convolution},
                                             {"conv_backward_kernel", kWinograd},
                                             {"conv_backward_kernel", kPointwise},
                                             {"conv_backward_kernel", kAmx},
                                             {"conv_backward_kernel", kOnednn},
                                             {"conv_backward_kernel", kIm2col},
                                             {"conv_backward_kernel", kConverted},
                                             {"depthwise_forward", make_depthwise_forward},
                                             {"depthwise_backward", make_depthwise_backward}};
  return kEntries;
}

}  // namespace crescent::cpu
