// Plan: a compiled program on raw memory. A flat list of kernels whose arguments are pointers into one arena, constants
// and the caller's tensors; the latter are filled in when they change. run() allocates nothing.
#pragma once
#include <string>
#include <vector>

#include "crescent/device.h"
#include "kernel.h"
#include "lower.h"

namespace crescent::cpu {

class Plan {
 public:
  Plan(const Program& program, const Options& options, Pool& pool);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Memory of the caller, in the order of the program's inputs, variables and outputs.
  struct Memory {
    std::vector<std::byte*> inputs, variables, outputs;
  };
  /// To be filled before run().
  Memory& memory() { return memory_; }
  void run();

  double flops() const;                    ///< of a run
  size_t arena_bytes() const { return arena_ ? arena_->bytes() : 0; }
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
  void run_profiled();
  void run(const Call& call) { call.kernel->run({call.inputs, call.outputs, call.scratch, pool_}); }

  Pool& pool_;
  Memory memory_;
  std::vector<Tensor> constants_;
  std::shared_ptr<Storage> arena_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::byte*> arguments_;
  std::vector<Slot> slots_;
  std::vector<Call> calls_;
  bool profiling_ = false;
  std::vector<ProfileRow> profile_;        ///< per call
};

}  // namespace crescent::cpu
