// Kernels that are not about numbers: copies, and ops that compute on tensors by themselves.
#include <cstring>

#include "engine/lower.h"

namespace crescent::cpu {
namespace {

class Copy final : public Kernel {
 public:
  explicit Copy(size_t bytes) : bytes_(bytes) {}
  void run(const Arguments& a) override {
    a.pool.blocks(static_cast<int64_t>(bytes_), int64_t{1} << 18, [&](int64_t begin, int64_t end) {
      if (end > begin)
        std::memcpy(a.outputs[0] + begin, a.inputs[0] + begin, static_cast<size_t>(end - begin));
    });
  }
  std::string name() const override { return "memcpy"; }

 private:
  size_t bytes_;
};

class Nothing final : public Kernel {
 public:
  void run(const Arguments&) override {}
  std::string name() const override { return "nothing"; }
};

/// Somebody else's memory.
class Borrowed final : public Storage {
 public:
  Borrowed(const std::byte* memory, size_t bytes) {
    host_ = const_cast<std::byte*>(memory);
    bytes_ = bytes;
  }
};

Tensor borrow(const std::byte* memory, const TensorSpec& spec) {
  size_t bytes = static_cast<size_t>(spec.shape.size()) * size_of(spec.dtype);
  return Tensor::on(std::make_shared<Borrowed>(memory, bytes), 0, spec);
}

/// The one kernel that allocates: handles around the memory.
class Computed final : public Kernel {
 public:
  Computed(OpPtr op, const Request& request)
      : op_(std::move(op)),
        in_(request.inputs.begin(), request.inputs.end()),
        out_(request.outputs.begin(), request.outputs.end()) {}

  void run(const Arguments& a) override {
    Tensors inputs, outputs;
    for (size_t i = 0; i < in_.size(); ++i) inputs.push_back(borrow(a.inputs[i], in_[i]));
    for (size_t i = 0; i < out_.size(); ++i) outputs.push_back(borrow(a.outputs[i], out_[i]));
    op_->compute(inputs, outputs);
  }
  std::string name() const override { return "host"; }

  /// Tries on zeros.
  bool works() const {
    Tensors inputs, outputs;
    for (const TensorSpec& spec : in_) inputs.emplace_back(spec);
    for (const TensorSpec& spec : out_) outputs.emplace_back(spec);
    return op_->compute(inputs, outputs);
  }

 private:
  OpPtr op_;
  TensorSpecs in_, out_;
};

}  // namespace

std::unique_ptr<Kernel> make_copy(size_t bytes) { return std::make_unique<Copy>(bytes); }

std::unique_ptr<Kernel> make_nothing() { return std::make_unique<Nothing>(); }

std::unique_ptr<Kernel> make_computed(OpPtr op, const Request& request) {
  auto kernel = std::make_unique<Computed>(std::move(op), request);
  return kernel->works() ? std::move(kernel) : nullptr;
}

}  // namespace crescent::cpu
