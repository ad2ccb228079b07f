// The cpu device: its threads and switches, and the door to compiled programs.
#pragma once
#include "crescent/device.h"
#include "engine/arenas.h"
#include "engine/kernel.h"
#include "engine/stable_values.h"

namespace crescent::cpu {

class CpuDevice final : public Device {
 public:
  static void describe(Schema<CpuDevice>& s);
  CpuDevice();

  std::unique_ptr<Executable> compile(const Program& program) override;
  Dict information() const override;
  void set_threads(int count) override;
  int threads() const override { return pool_.threads(); }
  void set_deterministic(bool on) override { options_.deterministic = on; }

 private:
  Options options_;
  Pool pool_;
  Arenas arenas_;
  StableValues values_;
};

}  // namespace crescent::cpu
