// Evaluates programs in float64, with bounds of what their results may be off by.
#pragma once
#include <unordered_map>

#include "crescent/program/op_types.h"
#include "crescent/program/program.h"
#include "validation/rules/bounded.h"

namespace crescent::validation {

/// What a program begins with.
struct Start {
  std::vector<BoundedPtr> inputs;
  std::unordered_map<const void*, BoundedPtr> variables;  ///< by Variable::id()

  const BoundedPtr& of(const Variable& variable) const { return variables.at(variable.id()); }
};

class Evaluator {
 public:
  /// Sees the result of an instruction, and may put another in its place.
  using Observer =
      std::function<void(const Program::Instruction& instruction, int value, BoundedPtr& result)>;
  explicit Evaluator(Rounding rounding, Observer observer = {})
      : rounding_(rounding), observer_(std::move(observer)) {}

  /// Per value of the program; what nobody reads any more is not there, unless all is kept.
  std::vector<BoundedPtr> run(const Program& program, const Start& start, bool keep_all = false);

 private:
  using Values = std::vector<BoundedPtr>;
  /// Whether the program is the whole one, the body of a loop, or what an op decomposes into.
  enum class Role : uint8_t { whole, body, decomposed };
  void run_code(const Program& program, Values& values, bool keep_all, Role role);
  std::vector<Bounded> compute(const OpPtr& op, std::span<const BoundedPtr> inputs,
                               const TensorSpecs& outputs);
  std::vector<Bounded> scan(const Scan& op, std::span<const BoundedPtr> inputs,
                            const TensorSpecs& outputs);
  Values run_part(const Program& part, std::span<const BoundedPtr> inputs, Role role);
  Bounded constant(const Tensor& tensor, Role role) const;

  Rounding rounding_;
  Observer observer_;
};

/// "matmul a'b 32x8, 32x4 -> 8x4".
std::string text_of(const Program& program, const Program::Instruction& instruction);

}  // namespace crescent::validation
