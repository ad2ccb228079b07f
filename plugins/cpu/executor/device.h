// The cpu device: it owns the threads and the settings, and compiles programs.
#pragma once
#include "crescent/program/device.h"
#include "executor/exchange_thread.h"
#include "kernel/kernel.h"
#include "memory/arenas.h"
#include "memory/prepack_cache.h"

namespace crescent::cpu {

class CpuDevice final : public Device {
 public:
  static void describe(Schema<CpuDevice>& s);
  CpuDevice();

  /// Whether there is a kernel for the op; true for every scan, whose body is lowered as well.
  bool supports(const Op& op, std::span<const TensorSpec> inputs,
                std::span<const TensorSpec> outputs) const override;
  Capabilities capabilities() const override { return {true, true, true, true, true}; }
  std::unique_ptr<Executable> compile(const Program& program) override;
  Dict information() const override;
  void configured() override;
  void set_threads(int64_t count);  ///< Sets the number of threads; 0 means all available cores.
  int threads() const { return pool_.threads(); }

 private:
  int64_t threads_ = 0;
  bool deterministic_ = false, overlap_ = false;
  Options options_;
  Pool pool_;
  Arenas arenas_;
  PrepackCache cache_;
  ExchangeThread exchange_thread_;
};

}  // namespace crescent::cpu
