// Calls the functions of devices such that errors name the device and its plugin.
#include "compile/lowering/lowering.h"
#include "compile/lowering/wrapped_executable.h"
#include "registry/blame.h"

namespace crescent::lowering {
namespace {

/// Calls `f`, which runs code of the device. Crashes, and exceptions of classes other than Error,
/// name the device. An Error is rethrown unchanged, because it concerns the values or the program
/// that the device was given. A device that was created without the registry has no name.
template <class F>
auto in_device(const Device& device, F f) -> decltype(f()) {
  const ClassInfo* info = device.info().get();
  if (!info) return f();
  const Running running("device", "", info->name, info->plugin);
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (...) {
    rethrow_blaming(info);
  }
}

class BlamingExecutable final : public WrappedExecutable {
 public:
  BlamingExecutable(std::unique_ptr<Executable> executable, const Device& device)
      : WrappedExecutable(std::move(executable)), device_(device) {}
  void run(std::span<const Tensor> inputs, std::span<Tensor> variables,
           std::span<Tensor> outputs) override {
    in_device(device_, [&] { WrappedExecutable::run(inputs, variables, outputs); });
  }

 private:
  const Device& device_;  // a device lives to the end of the process
};

}  // namespace

bool is_supported(const Device& device, const Op& op, const TensorSpecs& inputs,
                  const TensorSpecs& outputs) {
  return in_device(device, [&] { return device.supports(op, inputs, outputs); });
}

std::unique_ptr<Executable> compile_lowered(const Program& lowered_program, Device& device) {
  const ClassInfo* info = device.info().get();
  auto executable = in_device(device, [&] { return device.compile(lowered_program); });
  if (!executable)
    fail("device ", device.class_name(), info ? concat(" of plugin '", info->plugin, "'") : "",
         ": compile() gave no executable");
  if (!info || is_built_in(*info)) return executable;
  return std::make_unique<BlamingExecutable>(std::move(executable), device);
}

}  // namespace crescent::lowering
