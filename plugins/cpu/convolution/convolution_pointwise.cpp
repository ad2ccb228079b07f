// Convolutions with 1x1 kernels as matrix products (pixels, in) times (in, out). The matrix product
// kernels support all post-ops, prepared weights and epilogues.
#include <algorithm>
#include <vector>

#include "convolution/convolution.h"

namespace crescent::cpu {
namespace {

bool is_pointwise(const ConvPlan& plan) {
  return plan.groups == 1 && std::all_of(plan.axes.begin(), plan.axes.end(), [](const auto& axis) {
           return axis.kernel == 1 && axis.stride == 1 && axis.pad_before == 0 &&
                  axis.pad_after == 0;
         });
}

/// The spec with all axes except the last one merged into one. The spec of a bias, which has one
/// axis, is unchanged.
TensorSpec as_matrix(const TensorSpec& spec) {
  if (spec.shape.rank() < 2) return spec;
  return {spec.dtype, {spec.shape.slice(0, -1).size(), spec.shape[-1]}};
}

OpPtr product_for(const Op& convolution, ConvPass pass) {
  auto product = std::make_shared<Matmul>();
  product->transpose_a = pass == ConvPass::backward_kernel;
  product->transpose_b = pass == ConvPass::backward_data;
  if (convolution.name() != WithPostOps::kName) return product;
  auto product_with_post_ops =
      std::make_shared<WithPostOps>(static_cast<const WithPostOps&>(convolution));
  product_with_post_ops->op = product;
  return product_with_post_ops;
}

}  // namespace

std::unique_ptr<Kernel> make_pointwise_convolution(const Request& r) {
  const ConvPlan plan(r);
  if (!is_pointwise(plan) || plan.empty() || plan.has_moments) return nullptr;
  const auto is_single = [](const TensorSpec& spec) { return spec.dtype == DType::float32; };
  if (!std::all_of(r.inputs.begin(), r.inputs.end(), is_single)) return nullptr;
  std::vector<TensorSpec> inputs;
  for (const TensorSpec& input : r.inputs) inputs.push_back(as_matrix(input));
  const TensorSpec output = as_matrix(r.outputs[0]);
  const OpPtr op = product_for(r.op, plan.pass);
  const Request product{*op, inputs, {&output, 1}, r.options};
  for (const KernelEntry& entry : matmul_kernels())
    if (auto kernel = entry.make(product)) return kernel;
  return nullptr;
}

}  // namespace crescent::cpu
