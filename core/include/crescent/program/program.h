// Program: what was recorded while a function ran on abstract tensors; Function: a function
// compiled once per input signature.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "crescent/program/device.h"
#include "crescent/program/op.h"
#include "crescent/tensor/variable.h"

namespace crescent {

/// A straight list of instructions over numbered values. Every value has a known spec.
class CRESCENT_API Program {
 public:
  struct Instruction {
    OpPtr op;
    std::vector<int> inputs, outputs;  ///< value numbers
    int scope = 0;                     ///< index into scopes: the layer that asked for it
  };
  struct Constant {
    int value;
    Tensor tensor;
  };
  /// A variable the program reads, and writes when `result` >= 0 (in place, after the last read).
  struct Binding {
    Variable variable;
    int value;
    int result = -1;
  };

  TensorSpecs values;
  std::vector<int> inputs, outputs;
  std::vector<Constant> constants;
  std::vector<Binding> variables;
  std::vector<Instruction> code;
  std::vector<std::string> scopes{""};  ///< "", "dense_1", "block/dense_2", ...

  int add_value(const TensorSpec& spec) {
    return values.push_back(spec), static_cast<int>(values.size()) - 1;
  }
  std::string text() const;  ///< one line an instruction, for people
};

/// Rewriting; the result computes the same. Order and meaning: core/src/compile/passes.
struct OptimizeOptions {
  bool inference = false;  ///< variables that are not written count as constants where that pays
  const Device* device = nullptr;  ///< whose capabilities() count; null: of the device in use
};
CRESCENT_API Program optimize(Program program, const OptimizeOptions& options = {});

/// Runs f on abstract tensors of the given specs and records what it does. Reading values inside
/// fails clearly.
CRESCENT_API Program trace(const std::function<Tensors(const Tensors&)>& f,
                           std::span<const TensorSpec> inputs);

/// True while a trace of this thread records.
CRESCENT_API bool is_tracing();

/// While alive, ops of this thread run at once and variables have their values, as outside of a
/// trace: for state that is made on first use while a program is being recorded (weights, initial
/// values).
class CRESCENT_API NoTrace {
 public:
  NoTrace();
  ~NoTrace();
  NoTrace(const NoTrace&) = delete;

 private:
  void* paused_;
};

/// While alive, instructions recorded on this thread carry this name below the enclosing one.
class CRESCENT_API ProgramScope {
 public:
  explicit ProgramScope(const std::string& name);
  ~ProgramScope();
  ProgramScope(const ProgramScope&) = delete;

 private:
  int previous_;
};

/// tf.function: traced and compiled once per signature of the inputs, run in place afterwards.
/// Copyable handle.
class CRESCENT_API Function {
 public:
  using Body = std::function<Tensors(const Tensors&)>;
  Function() = default;
  explicit Function(Body body, OptimizeOptions options = {});
  explicit operator bool() const { return state_ != nullptr; }
  /// Compiles when the signature is new. Outputs are fresh handles; their memory is reused by the
  /// next call unless somebody still holds them (then new memory is taken), so a loop that drops
  /// results allocates nothing. `key` distinguishes things the specs do not show (training flag).
  Tensors operator()(const Tensors& inputs, int64_t key = 0) const;
  /// The same without returning by value: outputs are written into `outputs` (resized).
  void call(std::span<const Tensor> inputs, Tensors& outputs, int64_t key = 0) const;
  /// The compiled form for these inputs, compiling when new.
  std::shared_ptr<Executable> executable(std::span<const Tensor> inputs, int64_t key = 0) const;
  /// The variables that it writes.
  Variables written(std::span<const Tensor> inputs, int64_t key = 0) const;
  /// Forgets all signatures (after compile(), trainable changes).
  void clear() const;
  /// How many are compiled now.
  size_t signatures() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Every function is traced anew when it is called next: for those who have changed what a trace
/// reads and no variable holds, such as an attribute of a layer in Lua.
CRESCENT_API void retrace_functions();

/// What is compiled in this process, of functions and of ops that ran at once, is kept to be run
/// again.
struct ProgramCache {
  size_t programs = 0, bytes = 0;  ///< kept now; the memory is an estimate
  size_t budget = 0;               ///< beyond so many bytes those go that were not used for longest
};
CRESCENT_API ProgramCache program_cache();
/// The environment's CRESCENT_PROGRAM_CACHE sets it from the start.
CRESCENT_API void set_program_cache(size_t budget);

namespace ops {
/// body(states, step inputs) -> {next states, step outputs}. Sequences are (t, ...) (time first);
/// outputs are stacked (t, ...).
struct ScanResult {
  Tensors states, outputs;
};
using ScanBody = std::function<ScanResult(const Tensors& states, const Tensors& step)>;
CRESCENT_API ScanResult scan(const ScanBody& body, const Tensors& states, const Tensors& sequences,
                             bool reverse = false);
}  // namespace ops

}  // namespace crescent
