// Evaluates programs in float64, with bounds of the rounding errors of their results.
#pragma once
#include <unordered_map>

#include "crescent/program/op_types.h"
#include "crescent/program/program.h"
#include "validation/rules/bounded.h"

namespace crescent::validation {

/// The values of inputs and variables before a program runs.
struct InitialValues {
  std::vector<BoundedPtr> inputs;
  std::unordered_map<const void*, BoundedPtr> variables;  ///< keys are Variable::id()

  const BoundedPtr& of(const Variable& variable) const { return variables.at(variable.id()); }
};

class Evaluator {
 public:
  /// A function that is called with the result of each instruction and may replace it.
  using Observer =
      std::function<void(const Program::Instruction& instruction, int value, BoundedPtr& result)>;
  explicit Evaluator(Rounding rounding, Observer observer = {})
      : rounding_(rounding), observer_(std::move(observer)) {}

  /// Runs the program and returns its values; values that no later instruction reads are null
  /// unless `keep_all` is true.
  std::vector<BoundedPtr> run(const Program& program, const InitialValues& initial_values,
                              bool keep_all = false);

 private:
  using Values = std::vector<BoundedPtr>;
  /// Whether a program is the whole program, the body of a scan, or the decomposition of an op.
  enum class Role : uint8_t { whole, body, decomposed };
  /// Computes the values of the instructions from those of inputs, constants and variables.
  void interpret(const Program& program, Values& values, bool keep_all, Role role);
  std::vector<Bounded> compute(const OpPtr& op, std::span<const BoundedPtr> inputs,
                               const TensorSpecs& outputs);
  std::vector<Bounded> scan(const Scan& op, std::span<const BoundedPtr> inputs,
                            const TensorSpecs& outputs);
  Values run_subprogram(const Program& subprogram, std::span<const BoundedPtr> inputs, Role role);
  Bounded constant(const Tensor& tensor, Role role) const;

  Rounding rounding_;
  Observer observer_;
};

/// The instruction as text: "matmul a'b 32x8, 32x4 -> 8x4".
std::string text_of(const Program& program, const Program::Instruction& instruction);

}  // namespace crescent::validation
