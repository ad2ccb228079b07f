// A device that supports a given set of ops. It compiles nothing: lowered programs are run by the
// cpu.
#pragma once
#include <functional>
#include <string>

#include "crescent/device/lowering.h"
#include "crescent/program/op_types.h"

namespace crescent {

class PickyDevice final : public Device {
 public:
  using Support = std::function<bool(const Op&)>;
  explicit PickyDevice(Support is_supported, Capabilities capabilities = {})
      : is_supported_(std::move(is_supported)), capabilities_(capabilities) {}

  bool supports(const Op& op, std::span<const TensorSpec>,
                std::span<const TensorSpec>) const override {
    return is_supported_(op);
  }
  Capabilities capabilities() const override { return capabilities_; }
  std::unique_ptr<Executable> compile(const Program&) override { fail("a picky device"); }
  Dict information() const override { return {}; }

 private:
  Support is_supported_;
  Capabilities capabilities_;
};

}  // namespace crescent
