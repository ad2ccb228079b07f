// Plan: a compiled program on raw memory. A flat list of kernels whose arguments are pointers into
// an arena, which is another one from run to run, constants, prepared weights and the caller's
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
    std::vector<Contents> contents;  ///< of the variables
  };
  /// To be filled before run().
  Memory& memory() { return memory_; }
  /// `arena`: arena_bytes() for intermediate values, contents undefined.
  void run(std::byte* arena);
  /// Runs the prepack stage, if it has to, and nothing else: for plans that share its results.
  void prepare(std::byte* arena);
  /// Whether the program writes variable `i`.
  bool writes(size_t i) const { return writes_[i]; }

  double flops() const;  ///< of a run
  size_t arena_bytes() const { return arena_bytes_; }
  /// Memory that goes with it, about.
  size_t bytes() const;
  /// Times each call, from nothing, or stops; `of_parts`: and how its work is cut.
  void profile(bool on, bool of_parts = true);
  std::vector<ProfileRow> rows() const;
  /// As Executable::watch().
  void watch(Executable::Watcher watcher);

 private:
  struct Call {
    Kernel* kernel;
    std::byte* const* inputs;
    std::byte* const* outputs;
    size_t scratch;  ///< where in the arena
  };
  /// Arguments that are memory of the caller.
  struct CallerArgument {
    std::byte** argument;
    std::byte* const* source;
  };
  /// Arguments that are in the arena.
  struct ArenaArgument {
    std::byte** argument;
    size_t offset;
  };
  void link(const Schedule& schedule, const MemoryPlan& plan);
  void place(std::byte* arena);
  void move_to(std::byte* arena);
  void update_prepacked();
  void describe(const Schedule& schedule, const std::vector<std::string>& scopes);
  void run(size_t first, size_t last);  ///< a failure tells where in the program
  void run_timed(size_t i);
  void run_observed(size_t i);  ///< timed, or told of, or both
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
  std::byte* arena_ = nullptr;  ///< of this run or the one before
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::byte*> arguments_;
  std::vector<CallerArgument> caller_arguments_;
  std::vector<ArenaArgument> arena_arguments_;
  std::vector<Call> calls_;
  std::vector<bool> writes_;  ///< per variable
  std::optional<PrepackStage> prepack_stage_;
  bool profiling_ = false, observed_ = false;  ///< observed: profiled or watched
  Executable::Watcher watcher_;
  std::vector<std::vector<int>> results_;  ///< values, per call
  std::vector<ProfileRow> profile_;        ///< per call
  std::vector<WorkTrace> traces_;          ///< per call, while profiling how work is cut
};

}  // namespace crescent::cpu
