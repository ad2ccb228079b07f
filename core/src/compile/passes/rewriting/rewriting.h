// Rewriting: a program whose instructions are rewritten by rules, from the first to the last one. A
// rule reads one instruction and the producers of its inputs, and may return another value that
// replaces the result of the instruction. Instructions that become unused are left to dead_code.
#pragma once
#include <deque>
#include <functional>
#include <optional>

#include "crescent/program/op_types.h"
#include "crescent/program/program.h"

namespace crescent::passes {

using Instruction = Program::Instruction;
class Rewriting;

inline constexpr int kKeep = -1;
/// A rule: returns a value with the same spec that replaces the only result of the instruction, or
/// kKeep.
using Rewrite = std::function<int(Rewriting&, const Instruction&)>;

/// Calls `rewrite` on every instruction; returns whether any was replaced.
bool rewrite_each(Program& program, const Rewrite& rewrite);

/// An instruction whose results, as the op infers them from the inputs, are new values of the
/// program. It is not in the program's code yet.
Instruction new_instruction(Program& program, OpPtr op, std::vector<int> inputs, int scope);

/// For each value, whether an instruction, an output or a variable's new value reads it.
std::vector<bool> values_read(const Program& program);

/// Returns the op as a T, or null if it is of another class.
template <class T>
const T* as(const Op& op) {
  return op.name() == T::kName ? dynamic_cast<const T*>(&op) : nullptr;
}
inline bool is_elementwise(const Op& op) {
  return as<Unary>(op) || as<Binary>(op) || as<Select>(op) || as<Cast>(op);
}
template <class T>
const T& op_of(const Instruction& instruction) {
  return static_cast<const T&>(*instruction.op);
}

class Rewriting {
 public:
  explicit Rewriting(Program& program);

  TensorSpec spec(int value) const { return program_.values[value]; }
  Shape shape(int value) const { return spec(value).shape; }
  DType dtype(int value) const { return spec(value).dtype; }
  TensorSpec result(const Instruction& i) const { return spec(i.outputs[0]); }

  /// Returns the instruction that computes the value; null for inputs, variables and constants.
  const Instruction* producer(int value) const { return producers_[value]; }
  /// Returns the instruction that computes the value if its op is a T, else null.
  template <class T>
  const Instruction* producer_as(int value) const {
    const Instruction* i = producer(value);
    return i && as<T>(*i->op) ? i : nullptr;
  }
  template <class T>
  const T* defining_op(int value) const {
    const Instruction* i = producer(value);
    return i ? as<T>(*i->op) : nullptr;
  }
  /// The number to which all elements of the value are equal, if that is known at compile time.
  std::optional<double> uniform(int value) const;
  bool is_uniform(int value, double number) const { return uniform(value) == number; }
  /// Whether exactly one instruction reads the value, and it is neither an output nor a new value
  /// of a variable.
  bool read_once(int value) const { return read_counts_[value] == 1; }
  /// Whether the value depends only on constants and on variables that the program never writes. A
  /// device computes such a value once, and anew only after one of these variables has changed.
  bool is_fixed_between_writes(int value) const { return is_fixed_between_writes_[value]; }

  /// Adds an instruction before the current one; returns its only or first result.
  int add(OpPtr op, std::vector<int> inputs);
  template <class T>
  int add(T op, std::vector<int> inputs) {
    return add(OpPtr(std::make_shared<const T>(std::move(op))), std::move(inputs));
  }
  int add_unary(UnaryKind kind, int x);
  int add_binary(BinaryKind kind, int a, int b);
  int add_scalar(double number, DType dtype);
  /// Returns the value reshaped, or the value itself if it has that shape.
  int reshaped(int value, const Shape& shape);
  /// Returns the value broadcast to the spec, or kKeep if the dtype differs.
  int broadcast_value(int value, const TensorSpec& spec);

 private:
  friend bool rewrite_each(Program& program, const Rewrite& rewrite);
  void visit(Instruction instruction, const Rewrite& rewrite);
  void keep(Instruction instruction);
  void replace(const Instruction& instruction, int value);
  void finish();

  Program& program_;
  std::deque<Instruction> code_;
  std::vector<const Instruction*> producers_;  ///< indexed by value: as producer() returns it
  std::vector<int> replacements_;              ///< indexed by value: the value that replaces it
  std::vector<int> read_counts_;
  std::vector<int> constant_indices_;  ///< indexed by value: index among the constants, or -1
  std::vector<bool> is_fixed_between_writes_;  ///< indexed by value
  int scope_ = 0;
  bool has_changed_ = false;
};

}  // namespace crescent::passes
