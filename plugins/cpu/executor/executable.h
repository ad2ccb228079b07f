// CpuExecutable: a compiled program that the core library runs. It holds a plan, and for each run a
// frame that binds the plan to the tensors of the run. Several threads may run it at once.
#pragma once
#include <mutex>

#include "executor/plan.h"
#include "memory/arenas.h"
#include "memory/object_pool.h"

namespace crescent::cpu {

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(const Program& program, const Options& options, Pool& pool, Arenas& arenas,
                PrepackCache& cache, ExchangeThread* exchange_thread)
      : arenas_(arenas), user_(arenas), plan_(program, options, pool, cache, exchange_thread) {}
  void run(std::span<const Tensor> inputs, std::span<Tensor> variables,
           std::span<Tensor> outputs) override;
  size_t arena_bytes() const override { return plan_.arena_bytes(); }
  size_t bytes() const override { return sizeof *this + plan_.bytes(); }
  void profile(bool on) override;
  std::vector<ProfileEntry> rows() const override;
  bool watch(Watcher watcher) override;

 private:
  void bind(Plan::Frame& frame, std::span<const Tensor> inputs, std::span<Tensor> variables,
            std::span<Tensor> outputs) const;

  Arenas& arenas_;
  Arenas::User user_;
  // locked during runs that are observed (Plan::is_observed), and while profiling or watching is
  // turned on or off
  mutable std::mutex observed_run_mutex_;
  Plan plan_;
  ObjectPool<Plan::Frame> frames_;
};

}  // namespace crescent::cpu
