// The cpu device: its threads and switches, and the door to compiled programs.
#pragma once
#include "crescent/device.h"
#include "engine/kernel.h"

namespace crescent::cpu {

class CpuDevice final : public Device {
 public:
  static void describe(Schema<CpuDevice>& s);
  CpuDevice();

  /// Of a scan any body: it is lowered, too.
  bool takes(const Op& op, std::span<const TensorSpec> inputs,
             std::span<const TensorSpec> outputs) const override;
  Capabilities capabilities() const override { return {true, true, true, true, true}; }
  std::unique_ptr<Executable> compile(const Program& program) override;
  Dict information() const override;
  void set_threads(int count) override;
  int threads() const override { return pool_.threads(); }
  void set_deterministic(bool on) override { options_.deterministic = on; }

 private:
  Options options_;
  Pool pool_;
};

}  // namespace crescent::cpu
