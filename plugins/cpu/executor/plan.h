// Plan: a compiled program on raw memory, as a flat list of kernels. Several threads may run it at
// once, each with its own frame. The arguments of kernels point to constants, to prepacked values,
// to the caller's tensors, or into an arena, which may be a different one in each run. run()
// allocates nothing. The prepack stage, which converts weights to the layouts that kernels prefer,
// runs only if a variable that it reads has changed.
#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "crescent/program/device.h"
#include "executor/exchange_thread.h"
#include "executor/prepack_stage.h"
#include "kernel/kernel.h"
#include "threads/work_trace.h"

namespace crescent::cpu {

class Plan {
 public:
  /// With an exchange thread, exchanges with other processes are overlapped with other steps.
  Plan(const Program& program, const Options& options, Pool& pool, PrepackCache& cache,
       ExchangeThread* exchange_thread = nullptr);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Pointers to the memory of the caller's tensors, in the order of the program's inputs,
  /// variables and outputs.
  struct Memory {
    std::vector<std::byte*> inputs, variables, outputs;
    /// Identifiers of the contents of the variables (see Contents).
    std::vector<Contents> contents;
  };
  /// The state of one run of a plan: the pointers that its kernels get. Intermediate values are in
  /// an arena instead.
  class Frame {
   public:
    explicit Frame(const Plan& plan);
    /// The memory for the next run, which the caller sets before run().
    Memory& memory() { return memory_; }

   private:
    friend class Plan;
    Memory memory_;
    std::vector<std::byte*> arguments_;
    std::byte* arena_ = nullptr;  ///< the arena that arguments_ point into
    PrepackStage::State prepacked_;
    bool is_observed_ = false;  ///< whether the present run is timed or watched
  };
  /// Runs the program. `arena` points to arena_bytes() bytes for intermediate values, with any
  /// contents.
  void run(Frame& frame, std::byte* arena, bool is_observed = false);
  /// Runs the prepack stage if it is out of date, but not the program. This is called before
  /// several plans run that use its results.
  void prepare(Frame& frame, std::byte* arena);
  /// Whether the program writes variable `i`.
  bool writes(size_t i) const { return is_written_[i]; }

  double flops() const;  ///< floating-point operations per run
  size_t arena_bytes() const { return arena_bytes_; }
  /// The approximate bytes of memory that the plan takes, without arenas.
  size_t bytes() const;
  /// Whether runs are observed: timed, or reported to a watcher. While a watcher is set, or the
  /// division of calls among threads is timed, only one run at a time is observed.
  bool is_observed() const { return observes_runs_.load(std::memory_order_relaxed); }
  /// If `on`, starts to measure the time of each call, beginning at zero; else stops. With
  /// `measures_parts` the times of the parts into which threads divide each call are measured, too.
  /// No observed run may be in progress.
  void profile(bool on, bool measures_parts = true);
  std::vector<ProfileEntry> rows() const;
  /// Calls `watcher` after each instruction, as described at Executable::watch().
  void watch(Executable::Watcher watcher);

 private:
  struct Call {
    Kernel* kernel;
    /// Positions of the call's first input and first output in Frame::arguments_.
    size_t inputs, outputs;
    size_t scratch;                        ///< the offset of scratch memory in the arena
    bool is_overlapped, awaits_exchanges;  ///< as in Step
  };
  /// An argument of a kernel that points to memory of the caller or into the arena.
  struct Argument {
    size_t argument;
    /// Index of the input, variable or output of the program, or offset in the arena.
    size_t position;
  };
  /// The number and total time of executions of a call since profiling began, on all threads.
  struct Tally {
    std::atomic<uint64_t> calls{0};
    std::atomic<double> seconds{0};
  };
  void link(const Schedule& schedule, const MemoryPlan& plan);
  void point_to_memory(Frame& frame, std::byte* arena) const;
  void point_to_arena(Frame& frame, std::byte* arena) const;
  void update_prepacked(Frame& frame);
  void describe(const Schedule& schedule, const std::vector<std::string>& scopes);
  void find_shards(const Program& program, const Schedule& schedule);
  /// Runs calls [first, last). If a kernel throws, the error names the instruction.
  void run_calls(const Frame& frame, size_t first, size_t last);
  /// Runs calls [i, last) of a run that is observed, reported as the activity of the process
  /// (activity.h), divided into logical shards, or has overlapped exchanges. Calls that belong to
  /// shards of other processes are left out.
  void run_carefully(const Frame& frame, size_t& i, size_t last);
  /// Whether exchanges of the run are overlapped.
  bool overlaps(const Frame& frame) const;
  void run_timed(const Frame& frame, size_t i);
  /// Runs call i and measures its time, reports it to the watcher, or both.
  void run_observed(const Frame& frame, size_t i);
  void notify_watcher(const Frame& frame, size_t i) const;
  ProfileEntry profile_row(size_t i) const;
  Arguments arguments(const Frame& frame, const Call& call) const {
    std::byte* const* arguments = frame.arguments_.data();
    return {arguments + call.inputs, arguments + call.outputs, frame.arena_ + call.scratch, pool_};
  }
  void run(const Frame& frame, const Call& call) const { call.kernel->run(arguments(frame, call)); }

  Pool& pool_;
  PrepackCache& cache_;
  ExchangeThread* exchange_thread_;
  size_t input_count_ = 0, output_count_ = 0;  ///< numbers of inputs and outputs of the program
  std::vector<Tensor> constants_;
  size_t arena_bytes_ = 0;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  /// The arguments with which a new frame starts: pointers to constants; null for all other
  /// arguments.
  std::vector<std::byte*> arguments_;
  std::vector<Argument> input_arguments_, variable_arguments_, output_arguments_, arena_arguments_;
  std::vector<Call> calls_;
  /// for each call, the logical shard it belongs to, -1 for none; empty in programs without shards
  std::vector<int> shards_;
  int64_t shard_count_ = 0;
  bool can_overlap_ = false;      ///< whether there is an exchange thread, and a call for it
  std::vector<bool> is_written_;  ///< for each variable, whether the program writes it
  std::optional<PrepackStage> prepack_stage_;
  /// profiles_runs_: whether the plan is profiled; observes_runs_: whether it is profiled or
  /// watched.
  std::atomic<bool> profiles_runs_{false}, observes_runs_{false};
  Executable::Watcher watcher_;
  /// For each call, the indices of the values that it computes.
  std::vector<std::vector<int>> result_values_;
  std::vector<ProfileEntry> profile_;  ///< for each call, its description in profiles
  /// For each call, the number of its executions and their total time.
  std::vector<Tally> tallies_;
  /// For each call, the division of its work among threads, if this is profiled.
  std::vector<WorkTrace> traces_;
};

}  // namespace crescent::cpu
