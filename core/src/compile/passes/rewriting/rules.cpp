#include "compile/passes/rewriting/rules.h"

#include <algorithm>

#include "crescent/base/error.h"

namespace crescent::passes {

using Type = Term::Type;

/// Matches a pattern with a program. `operand_order` has one bit for each commutative call of the
/// pattern; a set bit swaps the operands of the call.
class Matching {
 public:
  Matching(const Rewriting& r, unsigned operand_order) : r_(r), operand_order_(operand_order) {}

  bool matches(const Term& pattern, const Instruction& instruction) {
    return matches_call(pattern, instruction);
  }
  const Match& match() const { return match_; }

 private:
  static bool has_kind(const Op& op, const Term& pattern) {
    if (pattern.kind < 0) return true;
    if (auto* unary = as<Unary>(op)) return static_cast<int>(unary->kind) == pattern.kind;
    if (auto* binary = as<Binary>(op)) return static_cast<int>(binary->kind) == pattern.kind;
    auto* reduce = as<Reduce>(op);
    return reduce && static_cast<int>(reduce->kind) == pattern.kind;
  }

  bool matches_call(const Term& pattern, const Instruction& i) {
    if (i.op->name() != pattern.op || !has_kind(*i.op, pattern)) return false;
    match_.calls_[call_count_++] = &i;
    if (pattern.takes_any) return true;
    if (i.inputs.size() != pattern.operands.size()) return false;
    const bool swaps_operands =
        pattern.is_commutative && operand_order_ >> commutative_count_++ & 1;
    for (size_t o = 0; o < i.inputs.size(); ++o) {
      if (!matches_value(pattern.operands[o], i.inputs[swaps_operands ? 1 - o : o])) return false;
    }
    return true;
  }

  bool matches_value(const Term& pattern, int value) {
    if (pattern.type == Type::number) return r_.uniform(value) == pattern.number;
    if (pattern.type == Type::letter) return matches_letter(pattern.letter, value);
    const Instruction* producer = r_.producer(value);
    return producer && producer->outputs[0] == value && matches_call(pattern, *producer);
  }

  bool matches_letter(char letter, int value) {
    int& bound_value = match_.values_[Match::index(letter)];
    if (bound_value != kKeep) return bound_value == value;
    if (is_number_letter(letter)) {
      const auto number = r_.uniform(value);
      if (!number) return false;
      match_.numbers_[Match::index(letter)] = *number;
    }
    bound_value = value;
    return true;
  }

  const Rewriting& r_;
  unsigned operand_order_;
  Match match_;
  size_t call_count_ = 0;
  unsigned commutative_count_ = 0;
};

namespace {

unsigned count_commutative_calls(const Term& e) {
  unsigned count = e.is_commutative;
  for (const Term& operand : e.operands) count += count_commutative_calls(operand);
  return count;
}

/// The shape of an elementwise expression of a rule: the shapes of the values that its letters
/// (term.h) matched, broadcast together.
Shape broadcast_shape(const Rewriting& r, const Match& m, const Term& e) {
  if (e.type == Type::letter) return r.shape(m[e.letter]);
  Shape shape;
  for (const Term& operand : e.operands)
    shape = broadcast_shapes(shape, broadcast_shape(r, m, operand), e.op);
  return shape;
}

int build_value(Rewriting& r, const Match& m, const Term& e, DType dtype) {
  if (e.type == Type::letter) return m[e.letter];
  if (e.type == Type::number) return r.add_scalar(e.number, dtype);
  std::vector<int> operands;
  for (const Term& operand : e.operands) operands.push_back(build_value(r, m, operand, dtype));
  if (e.op == Unary::kName) return r.add_unary(static_cast<UnaryKind>(e.kind), operands[0]);
  if (e.op == Binary::kName)
    return r.add_binary(static_cast<BinaryKind>(e.kind), operands[0], operands[1]);
  if (e.op == Select::kName) return r.add(Select{}, std::move(operands));
  fail("a rule has to build ", e.op, " itself");
}

/// Builds the replacement from its text and broadcasts it to the result.
int build_replacement(Rewriting& r, const Match& m, const Term& replacement) {
  const TensorSpec wanted_spec = r.result(m.call());
  const bool has_known_shape =
      broadcast_shape(r, m, replacement) == wanted_spec.shape || wanted_spec.shape.is_known();
  return has_known_shape
             ? r.broadcast_value(build_value(r, m, replacement, wanted_spec.dtype), wanted_spec)
             : kKeep;
}

}  // namespace

RuleTable::RuleTable(std::string_view pass, std::span<const RewriteRule> rules)
    : pass_(pass), rules_(rules) {
  for (const RewriteRule& rule : rules) {
    ParsedRule parsed_rule{&rule, parse_term(rule.pattern), {}};
    if (!rule.build) parsed_rule.replacement = parse_term(rule.replacement);
    parsed_rule.order_count = 1u << count_commutative_calls(parsed_rule.pattern);
    parsed_rules_.push_back(std::move(parsed_rule));
  }
}

int RuleTable::apply(Rewriting& r, const Instruction& instruction) const {
  const std::string_view name = instruction.op->name();
  for (const ParsedRule& parsed_rule : parsed_rules_) {
    if (parsed_rule.pattern.op != name) continue;
    for (unsigned operand_order = 0; operand_order < parsed_rule.order_count; ++operand_order) {
      Matching matching(r, operand_order);
      if (!matching.matches(parsed_rule.pattern, instruction)) continue;
      const RewriteRule& rule = *parsed_rule.rule;
      const Match& m = matching.match();
      if (rule.condition.holds && !rule.condition.holds(r, m)) continue;
      const int value =
          rule.build ? rule.build(r, m) : build_replacement(r, m, parsed_rule.replacement);
      if (value != kKeep && r.spec(value) == r.result(instruction)) return value;
    }
  }
  return kKeep;
}

bool RuleTable::rewrite(Program& program) const {
  const auto has_rule = [&](const Instruction& i) {
    const std::string_view name = i.op->name();
    return std::any_of(parsed_rules_.begin(), parsed_rules_.end(),
                       [&](const ParsedRule& parsed) { return parsed.pattern.op == name; });
  };
  if (std::none_of(program.code.begin(), program.code.end(), has_rule)) return false;
  return rewrite_each(program, [this](Rewriting& r, const Instruction& i) { return apply(r, i); });
}

}  // namespace crescent::passes
