// Common subexpressions: equal ops on equal values are computed once. A program never overwrites a
// value (the new value of a variable is another value), so equal values stay equal.
//
//   %2 = exp(%0)                       %2 = exp(%0)
//   %3 = exp(%0)                ->     %4 = add(%2, %2)
//   %4 = add(%2, %3)
#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"

namespace crescent::passes {
namespace {

constexpr size_t kMaxComparedBytes = 64;  // larger constants are not compared

bool is_commutative(const Op& op) {
  auto* binary = as<Binary>(op);
  if (!binary) return false;
  switch (binary->kind) {
    case BinaryKind::add:
    case BinaryKind::multiply:
    case BinaryKind::equal:
    case BinaryKind::not_equal:
    case BinaryKind::logical_and:
    case BinaryKind::logical_or:
      return true;
    default:
      return false;
  }
}

/// The hash key of an instruction: instructions with equal keys compute equal values.
struct Expression {
  explicit Expression(const Instruction& i)
      : op(i.op.get()), inputs(i.inputs), outputs(&i.outputs), hash(op->hash()) {
    if (is_commutative(*op)) std::sort(inputs.begin(), inputs.end());
    for (int value : inputs) detail::mix(hash, static_cast<size_t>(value));
  }
  bool operator==(const Expression& other) const {
    return inputs == other.inputs && op->equals(*other.op);
  }

  const Op* op;
  std::vector<int> inputs;
  const std::vector<int>* outputs;
  size_t hash;
};

/// Merges small equal constants, keyed by the text of their spec and bytes.
void merge_constants(const Program& program, std::vector<int>& first_equal_value) {
  std::unordered_map<std::string, int> value_of_constant;
  for (const Program::Constant& c : program.constants) {
    const size_t bytes = c.tensor.bytes();
    if (bytes > kMaxComparedBytes) continue;
    std::string key = to_text(c.tensor.spec());
    if (bytes > 0) key.append(static_cast<const char*>(c.tensor.raw()), bytes);
    first_equal_value[c.value] = value_of_constant.emplace(std::move(key), c.value).first->second;
  }
}

}  // namespace

bool common_subexpressions(Program& program) {
  std::vector<int> representatives(
      program.values.size());  // for each value, the first value that equals it
  std::iota(representatives.begin(), representatives.end(), 0);
  auto rename = [&](int& value) { value = representatives[value]; };
  merge_constants(program, representatives);

  const size_t old_size = program.code.size();
  std::vector<Instruction> code;
  code.reserve(old_size);  // Expression holds pointers into `code`, which must not be reallocated
  auto hash = [](const Expression& e) { return e.hash; };
  std::unordered_set<Expression, decltype(hash)> expressions(2 * old_size, hash);
  for (Instruction& instruction : program.code) {
    std::for_each(instruction.inputs.begin(), instruction.inputs.end(), rename);
    code.push_back(std::move(instruction));
    if (code.back().op->effect() > Effect::check) continue;
    auto [equal_expression, is_new] = expressions.emplace(code.back());
    if (is_new) continue;
    for (size_t o = 0; o < equal_expression->outputs->size(); ++o) {
      representatives[code.back().outputs[o]] = (*equal_expression->outputs)[o];
    }
    code.pop_back();
  }
  program.code = std::move(code);
  std::for_each(program.outputs.begin(), program.outputs.end(), rename);
  for (Program::Binding& b : program.variables) {
    if (b.result >= 0) rename(b.result);
  }
  return program.code.size() < old_size;
}

}  // namespace crescent::passes
