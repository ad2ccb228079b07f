// Program: the ops recorded while a function ran on abstract tensors. Function: compiles a program
// once for each signature of its inputs.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "crescent/program/device.h"
#include "crescent/program/op.h"
#include "crescent/tensor/variable.h"

namespace crescent {

/// A list of instructions without branches, which read and write numbered values. Every value has a
/// known spec. Copies share ops, tensors of constants and variables; ops do not change once they
/// are recorded.
class CRESCENT_API Program {
 public:
  struct Instruction {
    OpPtr op;
    std::vector<int> inputs, outputs;  ///< numbers of the values that are read and computed
    int scope = 0;  ///< index into `scopes` of the layer that recorded the instruction
  };
  struct Constant {
    int value;
    Tensor tensor;
  };
  /// A variable that the program reads. If `result` is not -1, the program also writes the value
  /// with this number to the variable, in place, after the last read.
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
  /// The specs of the values with these numbers.
  TensorSpecs specs_of(std::span<const int> numbers) const;
  std::string text() const;  ///< one line per instruction, for people
};

/// Options of optimize(). The passes are described in core/src/compile/passes.
struct OptimizeOptions {
  /// Treats variables that the program does not write as constants where that makes it faster.
  bool inference = false;
  /// The device whose capabilities() are used; null: the device in use.
  const Device* device = nullptr;
};
/// Returns a program with the same results, which the passes have rewritten for the device.
CRESCENT_API Program optimize(Program program, const OptimizeOptions& options = {});

/// Runs f once, on this thread, on abstract tensors of the given specs and records the ops that it
/// applies; ops of other threads are not recorded, and f is not kept. Reading values of abstract
/// tensors inside f fails with a clear message.
CRESCENT_API Program trace(const std::function<Tensors(const Tensors&)>& f,
                           std::span<const TensorSpec> inputs);

/// Whether a trace is recording on this thread.
CRESCENT_API bool is_tracing();

/// While an object of this class lives, ops of this thread run eagerly and variables have their
/// values, as if no trace were recording. It is for state that is created on first use during a
/// trace (weights, initial values).
class CRESCENT_API NoTrace {
 public:
  NoTrace();
  ~NoTrace();
  NoTrace(const NoTrace&) = delete;

 private:
  void* paused_;
};

/// While an object of this class lives, instructions recorded on this thread belong to the scope
/// with this name below the enclosing scope.
class CRESCENT_API ProgramScope {
 public:
  explicit ProgramScope(const std::string& name);
  ~ProgramScope();
  ProgramScope(const ProgramScope&) = delete;

 private:
  int previous_;
};

/// A compiled function (tf.function): traced and compiled once per signature of the inputs. Copies
/// are handles to the same function. It keeps its body, and the body's captures, until the last
/// handle is gone. Several threads may call it: programs without effects run side by side; a
/// program with effects, such as writing variables, runs alone. The body is traced on the thread of
/// the call that needs it.
class CRESCENT_API Function {
 public:
  using Body = std::function<Tensors(const Tensors&)>;
  Function() = default;
  explicit Function(Body body, OptimizeOptions options = {});
  explicit operator bool() const { return state_ != nullptr; }
  /// Runs the function, which is compiled first when the signature is new. The memory of outputs is
  /// reused by a later call unless a caller still holds the tensor (then new memory is allocated),
  /// so a loop that drops results allocates nothing. `key` distinguishes programs with equal specs
  /// (a training flag).
  Tensors operator()(const Tensors& inputs, int64_t key = 0) const;
  /// As operator(), but writes the results to `outputs`, which it resizes.
  void call(std::span<const Tensor> inputs, Tensors& outputs, int64_t key = 0) const;
  /// The executable for these inputs; it is compiled when the signature is new.
  std::shared_ptr<Executable> executable(std::span<const Tensor> inputs, int64_t key = 0) const;
  /// Discards all compiled programs, for example after compile() or a change of `trainable`.
  void clear() const;
  /// The number of signatures that have a compiled program.
  size_t signatures() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Makes every function trace again at its next call. Must be called after a change of something
/// that a trace reads and that is not a variable, such as an attribute of a layer written in Lua.
CRESCENT_API void retrace_functions();

/// The compiled programs that this process keeps for functions and for ops that ran eagerly.
struct ProgramCache {
  size_t programs = 0, bytes = 0;  ///< kept now; `bytes` is an estimate
  /// The limit of `bytes`; when it is exceeded, the least recently used programs are discarded.
  size_t budget = 0;
};
CRESCENT_API ProgramCache program_cache();
/// Sets the budget in bytes; CRESCENT_PROGRAM_CACHE in the environment sets its initial value.
CRESCENT_API void set_program_cache(size_t budget);

namespace ops {
/// The result of the body of a scan: the next states and the outputs of the step. The result of
/// scan(): the states after the last step, and the outputs of all steps (t, ...).
struct ScanResult {
  Tensors states, outputs;
};
/// The body of a scan; `step` holds the slices (...) of the sequences.
using ScanBody = std::function<ScanResult(const Tensors& states, const Tensors& step)>;
/// Calls the body for each index of the first axis of the sequences (t, ...), from the last one if
/// `reverse`. Fails without sequences, for sequences of different lengths, and if the body changes
/// the number, a dtype or a shape of the states.
CRESCENT_API ScanResult scan(const ScanBody& body, const Tensors& states, const Tensors& sequences,
                             bool reverse = false);
}  // namespace ops

}  // namespace crescent
