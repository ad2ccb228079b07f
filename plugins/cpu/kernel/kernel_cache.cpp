// The kernel cache: a kernel that supports() made stays in it until compile() needs the kernel, so
// that no kernel is made twice.
#include <algorithm>
#include <unordered_map>

#include "kernel/kernel.h"

namespace crescent::cpu {
namespace {

struct CachedKernel {
  /// The hash of the op. It differs if another op has been allocated at the same address since.
  size_t hash;
  TensorSpecs inputs, outputs;
  bool deterministic;
  std::unique_ptr<Kernel> kernel;

  bool matches(const Request& r, size_t op_hash) const {
    return hash == op_hash && deterministic == r.options.deterministic &&
           std::equal(inputs.begin(), inputs.end(), r.inputs.begin(), r.inputs.end()) &&
           std::equal(outputs.begin(), outputs.end(), r.outputs.begin(), r.outputs.end());
  }
};

thread_local std::unordered_multimap<const Op*, CachedKernel> kernel_cache;

}  // namespace

bool has_kernel(const Request& r) {
  std::unique_ptr<Kernel> kernel = make_kernel(r);
  if (!kernel) return false;
  // The number of kernels in the cache is limited, because ops may be queried but never compiled.
  constexpr size_t kMaxKernels = 4096;
  if (kernel_cache.size() >= kMaxKernels) kernel_cache.clear();
  kernel_cache.emplace(&r.op, CachedKernel{r.op.hash(),
                                           {r.inputs.begin(), r.inputs.end()},
                                           {r.outputs.begin(), r.outputs.end()},
                                           r.options.deterministic,
                                           std::move(kernel)});
  return true;
}

std::unique_ptr<Kernel> cached_or_new_kernel(const Request& r) {
  const auto [first, last] = kernel_cache.equal_range(&r.op);
  const size_t hash = first == last ? 0 : r.op.hash();
  const auto found =
      std::find_if(first, last, [&](const auto& entry) { return entry.second.matches(r, hash); });
  if (found == last) return make_kernel(r);
  return std::move(kernel_cache.extract(found).mapped().kernel);
}

void clear_kernel_cache() { kernel_cache.clear(); }

}  // namespace crescent::cpu
