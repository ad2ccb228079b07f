#include "kernel/plugin_kernel.h"

#include <mutex>

#include "crescent/system/crash.h"

namespace crescent::cpu {
namespace {

/// Calls f, which uses a kernel of another plugin; to an error that it throws, adds the names of
/// the op and the plugin.
template <class F>
auto with_kernel_context(const CpuKernel& kernel, F f) -> decltype(f()) {
  const auto context = [&] {
    const ClassInfo& info = *kernel.info();
    return concat("kernel of ", info.name, " of plugin '", info.plugin, "': ");
  };
  try {
    return f();
  } catch (Error& error) {
    error.add_context(context());
    throw;
  } catch (...) {
    fail(context(), exception_text());
  }
}

class PluginKernelAdapter final : public Kernel {
 public:
  explicit PluginKernelAdapter(std::shared_ptr<CpuKernel> kernel) : kernel_(std::move(kernel)) {
    with_kernel_context(*kernel_, [&] {
      scratch_bytes_ = kernel_->scratch_bytes();
      flops_ = kernel_->flops();
      name_ = kernel_->name();
    });
  }
  void run(const Arguments& a) const override {
    const std::lock_guard lock(mutex_);
    const Running running("kernel", "", kernel_->info()->name, kernel_->info()->plugin);
    with_kernel_context(*kernel_, [&] { kernel_->run(a); });
  }
  std::string name() const override { return name_; }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  double flops() const override { return flops_; }
  bool may_fail() const override { return true; }
  bool in_place(int input) const override {
    return with_kernel_context(*kernel_, [&] { return kernel_->in_place(input); });
  }

 private:
  std::shared_ptr<CpuKernel> kernel_;
  mutable std::mutex mutex_;  // a CpuKernel may only be run by one thread at a time
  size_t scratch_bytes_ = 0;
  double flops_ = 0;
  std::string name_;
};

}  // namespace

std::unique_ptr<Kernel> make_plugin_kernel(const Request& r) {
  if (!registry().find(CpuKernel::kKind, r.op.name())) return nullptr;
  auto kernel = make<CpuKernel>(r.op.name());
  if (!with_kernel_context(*kernel, [&] { return kernel->prepare(r); })) return nullptr;
  return std::make_unique<PluginKernelAdapter>(std::move(kernel));
}

}  // namespace crescent::cpu
