// Plan: a compiled program on raw memory, as a flat list of kernels, which several threads may run
// at once, each in a frame of its own. Arguments of kernels point into an arena, which may be
// another one in each run, and to constants, prepacked values and the caller's tensors. run()
// allocates nothing. The prepack stage, which prepares weights, runs only when a variable that it
// reads has changed.
#pragma once
#include <atomic>
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
  /// What a run of a plan works with, besides an arena.
  class Frame {
   public:
    explicit Frame(const Plan& plan);
    /// The caller fills this before run().
    Memory& memory() { return memory_; }

   private:
    friend class Plan;
    Memory memory_;
    std::vector<std::byte*> arguments_;
    std::byte* arena_ = nullptr;  ///< arena of the current or the previous run
    PrepackStage::State prepacked_;
    bool is_observed_ = false;  ///< in the current run
  };
  /// Runs the program; `arena` has arena_bytes() bytes for intermediate values, contents undefined.
  void run(Frame& frame, std::byte* arena, bool is_observed = false);
  /// Runs only the prepack stage, if it is out of date, for plans that share its results.
  void prepare(Frame& frame, std::byte* arena);
  /// Whether the program writes variable `i`.
  bool writes(size_t i) const { return writes_[i]; }

  double flops() const;  ///< floating-point operations per run
  size_t arena_bytes() const { return arena_bytes_; }
  /// The approximate memory that the plan itself takes.
  size_t bytes() const;
  /// Whether runs are timed or reported to a watcher. While the split of calls is timed or a
  /// watcher is set, only one run at a time is observed.
  bool is_observed() const { return observed_.load(std::memory_order_relaxed); }
  /// Starts timing each call from zero, or stops; with `of_parts` also how its work is split. No
  /// observed run may be in progress.
  void profile(bool on, bool of_parts = true);
  std::vector<ProfileRow> rows() const;
  /// Reports to `watcher` as Executable::watch() says.
  void watch(Executable::Watcher watcher);

 private:
  struct Call {
    Kernel* kernel;
    size_t inputs, outputs;  ///< indices of its first arguments
    size_t scratch;          ///< offset in the arena
  };
  /// An argument in memory of the caller or in the arena.
  struct Argument {
    size_t argument;
    size_t position;  ///< index of the input, variable or output, or offset in the arena
  };
  /// The time of a call since profiling began, counted on any thread.
  struct Tally {
    std::atomic<uint64_t> calls{0};
    std::atomic<double> seconds{0};
  };
  void link(const Schedule& schedule, const MemoryPlan& plan);
  void place(Frame& frame, std::byte* arena) const;
  void move_to(Frame& frame, std::byte* arena) const;
  void update_prepacked(Frame& frame);
  void describe(const Schedule& schedule, const std::vector<std::string>& scopes);
  /// Runs calls [first, last); errors name the instruction.
  void run_calls(const Frame& frame, size_t first, size_t last);
  void run_timed(const Frame& frame, size_t i);
  void run_observed(const Frame& frame, size_t i);  ///< timed, reported to the watcher, or both
  void tell(const Frame& frame, size_t i) const;
  ProfileRow row_of(size_t i) const;
  void run(const Frame& frame, const Call& call) const {
    std::byte* const* arguments = frame.arguments_.data();
    call.kernel->run(
        {arguments + call.inputs, arguments + call.outputs, frame.arena_ + call.scratch, pool_});
  }

  Pool& pool_;
  PrepackCache& values_;
  size_t inputs_ = 0, outputs_ = 0;  ///< numbers of inputs and outputs
  std::vector<Tensor> constants_;
  size_t arena_bytes_ = 0;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  /// The arguments that a new frame starts with: pointers to constants, else null.
  std::vector<std::byte*> arguments_;
  std::vector<Argument> input_arguments_, variable_arguments_, output_arguments_, arena_arguments_;
  std::vector<Call> calls_;
  std::vector<bool> writes_;  ///< per variable: whether the program writes it
  std::optional<PrepackStage> prepack_stage_;
  std::atomic<bool> profiling_{false}, observed_{false};  ///< observed_: profiled or watched
  Executable::Watcher watcher_;
  std::vector<std::vector<int>> results_;  ///< per call: the values that it makes
  std::vector<ProfileRow> profile_;        ///< per call: what it is
  std::vector<Tally> tallies_;             ///< per call
  std::vector<WorkTrace> traces_;          ///< per call, while the split of its work is profiled
};

}  // namespace crescent::cpu
