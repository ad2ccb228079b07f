// WrappedExecutable: the base of executables that do something around each run of another one.
#pragma once
#include "crescent/program/device.h"

namespace crescent::lowering {

class WrappedExecutable : public Executable {
 public:
  explicit WrappedExecutable(std::unique_ptr<Executable> inner) : inner_(std::move(inner)) {}
  void run(std::span<const Tensor> inputs, std::span<Tensor> variables,
           std::span<Tensor> outputs) override {
    inner_->run(inputs, variables, outputs);
  }
  size_t arena_bytes() const override { return inner_->arena_bytes(); }
  size_t bytes() const override { return inner_->bytes(); }
  void profile(bool on) override { inner_->profile(on); }
  std::vector<ProfileEntry> rows() const override { return inner_->rows(); }
  bool watch(Watcher watcher) override { return inner_->watch(std::move(watcher)); }

 private:
  std::unique_ptr<Executable> inner_;
};

}  // namespace crescent::lowering
