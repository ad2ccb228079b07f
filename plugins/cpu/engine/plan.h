// Plan: a compiled program on raw memory. A flat list of kernels whose arguments are pointers into
// one arena, constants and the caller's tensors; the latter are filled in when they change. run()
// allocates nothing. The prologue, which prepares weights, runs only when a variable that it reads
// has changed.
#pragma once
#include <string>
#include <vector>

#include "crescent/device.h"
#include "engine/kernel.h"
#include "engine/lower.h"
#include "threads/work_trace.h"

namespace crescent::cpu {

class Plan {
 public:
  Plan(const Program& program, const Options& options, Pool& pool);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Memory of the caller, in the order of the program's inputs, variables and outputs.
  struct Memory {
    std::vector<std::byte*> inputs, variables, outputs;
    std::vector<Contents> contents;  ///< of the variables
  };
  /// To be filled before run().
  Memory& memory() { return memory_; }
  void run();
  /// Whether the program writes variable `i`.
  bool writes(size_t i) const { return writes_[i]; }

  double flops() const;  ///< of a run
  size_t arena_bytes() const {
    return (arena_ ? arena_->bytes() : 0) + (kept_ ? kept_->bytes() : 0);
  }
  void profile(bool on);
  std::vector<ProfileRow> rows() const;

 private:
  struct Call {
    Kernel* kernel;
    std::byte* const* inputs;
    std::byte* const* outputs;
    std::byte* scratch;
  };
  /// Arguments that are memory of the caller.
  struct Slot {
    std::byte** argument;
    std::byte* const* source;
  };
  void link(Lowered& program);
  void describe(const Lowered& program, const std::vector<std::string>& scopes);
  void find_what_prologue_reads(const Lowered& program);
  bool is_prepared() const;
  void run(size_t first, size_t last);  ///< a failure tells where in the program
  void run_timed(size_t i);
  void run(const Call& call) { call.kernel->run({call.inputs, call.outputs, call.scratch, pool_}); }

  Pool& pool_;
  Memory memory_;
  std::vector<Tensor> constants_;
  std::shared_ptr<Storage> arena_, kept_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::byte*> arguments_;
  std::vector<Slot> slots_;
  std::vector<Call> calls_;
  std::vector<bool> writes_;  ///< per variable
  size_t prologue_;           ///< number of calls
  struct Read {
    size_t variable;
    Contents contents;  ///< when the prologue ran
  };
  std::vector<Read> prologue_reads_;
  bool prologue_ran_ = false;
  bool profiling_ = false;
  std::vector<ProfileRow> profile_;  ///< per call
  std::vector<WorkTrace> traces_;    ///< per call, while profiling
};

}  // namespace crescent::cpu
