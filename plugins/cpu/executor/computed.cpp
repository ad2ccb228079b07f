// Kernels without loops of their own: copies, and host calls, which call C++ functions on tensors.
#include <cstring>

#include "crescent/device/lowering.h"
#include "executor/schedule.h"

namespace crescent::cpu {
namespace {

/// Copies its input to its output. Nothing is copied if both share memory, for example after a
/// check of indices, whose output is its input.
class CopyKernel final : public Kernel {
 public:
  explicit CopyKernel(size_t bytes) : bytes_(bytes) {}
  void run(const Arguments& a) const override {
    if (a.inputs[0] == a.outputs[0]) return;
    a.threads.blocks(static_cast<int64_t>(bytes_), int64_t{1} << 18,
                     [&](int64_t begin, int64_t end) {
                       if (end > begin)
                         std::memcpy(a.outputs[0] + begin, a.inputs[0] + begin, end - begin);
                     });
  }
  std::string name() const override { return "memcpy"; }

 private:
  size_t bytes_;
};

/// A storage around memory that it does not own. Arrays without elements may have no memory.
class BorrowedStorage final : public Storage {
 public:
  BorrowedStorage(const std::byte* memory, size_t bytes) {
    host_ = memory ? const_cast<std::byte*>(memory) : &dummy_byte_;
    bytes_ = bytes;
  }

 private:
  std::byte dummy_byte_{};
};

Tensor borrow(const std::byte* memory, const TensorSpec& spec) {
  auto bytes = static_cast<size_t>(spec.bytes());
  return Tensor::on(std::make_shared<BorrowedStorage>(memory, bytes), 0, spec);
}

/// Executes a host call on tensors that refer to the memory of its arguments. This is the only
/// kernel whose run() allocates memory.
class HostCallKernel final : public Kernel {
 public:
  explicit HostCallKernel(const Request& request)
      : call_(static_cast<const HostCall&>(request.op)),
        in_(request.inputs.begin(), request.inputs.end()),
        out_(request.outputs.begin(), request.outputs.end()) {}

  void run(const Arguments& a) const override {
    Tensors inputs, outputs;
    for (size_t i = 0; i < in_.size(); ++i) inputs.push_back(borrow(a.inputs[i], in_[i]));
    for (size_t i = 0; i < out_.size(); ++i) outputs.push_back(borrow(a.outputs[i], out_[i]));
    call_.run(inputs, outputs);
  }
  std::string name() const override { return "host"; }

 private:
  HostCall call_;
  TensorSpecs in_, out_;
};

std::unique_ptr<Kernel> make_computed(const Request& request) {
  return std::make_unique<HostCallKernel>(request);
}

}  // namespace

std::unique_ptr<Kernel> make_copy(size_t bytes) { return std::make_unique<CopyKernel>(bytes); }

std::span<const KernelEntry> host_kernels() {
  static constexpr KernelEntry kRows[] = {{HostCall::kName, make_computed}};
  return kRows;
}

}  // namespace crescent::cpu
