// Plan: a compiled program on raw memory, as a flat list of kernels. Their arguments point into an
// arena, which may be another one in each run, and to constants, prepacked values and the caller's
// tensors. run() allocates nothing. The prepack stage, which prepares weights, runs only when a
// variable that it reads has changed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/program/device.h"
#include "executor/prepack_stage.h"
#include "kernel/kernel.h"
#include "threads/work_trace.h"

namespace crescent::cpu {

class Plan {
 public:
  Plan(const Program& program, const Options& options, Pool& pool, PrepackCache& values);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Memory of the caller, in the order of the program's inputs, variables and outputs.
  struct Memory {
    std::vector<std::byte*> inputs, variables, outputs;
    std::vector<Contents> contents;  ///< contents of the variables
  };
  /// The caller fills this before run().
  Memory& memory() { return memory_; }
  /// Runs the program; `arena` has arena_bytes() bytes for intermediate values, contents undefined.
  void run(std::byte* arena);
  /// Runs only the prepack stage, if it is out of date, for plans that share its results.
  void prepare(std::byte* arena);
  /// Whether the program writes variable `i`.
  bool writes(size_t i) const { return writes_[i]; }

  double flops() const;  ///< floating-point operations per run
  size_t arena_bytes() const { return arena_bytes_; }
  /// The approximate memory that the plan itself takes.
  size_t bytes() const;
  /// Starts timing each call from zero, or stops; with `of_parts` also how its work is split.
  void profile(bool on, bool of_parts = true);
  std::vector<ProfileRow> rows() const;
  /// Reports to `watcher` as Executable::watch() says.
  void watch(Executable::Watcher watcher);

 private:
  struct Call {
    Kernel* kernel;
    std::byte* const* inputs;
    std::byte* const* outputs;
    size_t scratch;  ///< offset in the arena
  };
  /// An argument in memory of the caller.
  struct CallerArgument {
    std::byte** argument;
    std::byte* const* source;
  };
  /// An argument in the arena.
  struct ArenaArgument {
    std::byte** argument;
    size_t offset;
  };
  void link(const Schedule& schedule, const MemoryPlan& plan);
  void place(std::byte* arena);
  void move_to(std::byte* arena);
  void update_prepacked();
  void describe(const Schedule& schedule, const std::vector<std::string>& scopes);
  void run(size_t first, size_t last);  ///< runs calls [first, last); errors name the instruction
  void run_timed(size_t i);
  void run_observed(size_t i);  ///< timed, reported to the watcher, or both
  void tell(size_t i) const;
  ProfileRow row_of(size_t i) const;
  void run(const Call& call) {
    call.kernel->run({call.inputs, call.outputs, arena_ + call.scratch, pool_});
  }

  Pool& pool_;
  PrepackCache& values_;
  Memory memory_;
  std::vector<Tensor> constants_;
  size_t arena_bytes_ = 0;
  std::byte* arena_ = nullptr;  ///< arena of the current or the previous run
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::byte*> arguments_;
  std::vector<CallerArgument> caller_arguments_;
  std::vector<ArenaArgument> arena_arguments_;
  std::vector<Call> calls_;
  std::vector<bool> writes_;  ///< per variable: whether the program writes it
  std::optional<PrepackStage> prepack_stage_;
  bool profiling_ = false, observed_ = false;  ///< observed_: profiled or watched
  Executable::Watcher watcher_;
  std::vector<std::vector<int>> results_;  ///< per call: the values that it makes
  std::vector<ProfileRow> profile_;        ///< per call: its totals
  std::vector<WorkTrace> traces_;          ///< per call, while the split of its work is profiled
};

}  // namespace crescent::cpu
