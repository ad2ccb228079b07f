// WrappedExecutable: the base class of executables that wrap another executable and do something
// before and after each of its runs.
#pragma once
#include "crescent/program/device.h"

namespace crescent::lowering {

class WrappedExecutable : public Executable {
 public:
  explicit WrappedExecutable(std::unique_ptr<Executable> executable)
      : wrapped_executable_(std::move(executable)) {}
  void run(std::span<const Tensor> inputs, std::span<Tensor> variables,
           std::span<Tensor> outputs) override {
    wrapped_executable_->run(inputs, variables, outputs);
  }
  size_t arena_bytes() const override { return wrapped_executable_->arena_bytes(); }
  size_t bytes() const override { return wrapped_executable_->bytes(); }
  void profile(bool on) override { wrapped_executable_->profile(on); }
  std::vector<ProfileEntry> rows() const override { return wrapped_executable_->rows(); }
  bool watch(Watcher watcher) override { return wrapped_executable_->watch(std::move(watcher)); }

 private:
  std::unique_ptr<Executable> wrapped_executable_;
};

}  // namespace crescent::lowering
