#include <array>

#include "kernel/converted.h"
#include "kernel/plugin_kernel.h"

namespace crescent::cpu {
namespace {

constexpr std::array kFamilies = {elementwise_kernels, shape_kernels,     reduction_kernels,
                                  random_kernels,      softmax_kernels,   matmul_kernels,
                                  convolution_kernels, pooling_kernels,   normalization_kernels,
                                  attention_kernels,   recurrent_kernels, linalg_kernels,
                                  collective_kernels,  host_kernels};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const Request& request) {
  if (!PostOps(request.op).is_supported) return nullptr;
  const std::string_view name = base_of(request.op).name();
  for (auto family : kFamilies) {
    for (const KernelEntry& entry : family()) {
      if (name != entry.op) continue;
      if (auto kernel = entry.make(request)) return kernel;
    }
  }
  if (auto kernel = make_plugin_kernel(request)) return kernel;
  return make_through_int32(request);
}

}  // namespace crescent::cpu
