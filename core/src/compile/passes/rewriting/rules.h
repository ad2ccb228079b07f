// Rules as data: a pattern, a condition and a replacement. The pass, the documentation and the
// tests (which generate programs from patterns) use the same texts.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "compile/passes/rewriting/rewriting.h"
#include "compile/passes/rewriting/term.h"

namespace crescent::passes {

/// The instructions and values in a program that a pattern matched.
class Match {
 public:
  /// The instruction of the n-th call in the pattern, from left to right; 0 is the whole pattern.
  const Instruction& call(size_t n = 0) const { return *calls_[n]; }
  template <class T>
  const T& op(size_t n = 0) const {
    return op_of<T>(call(n));
  }
  /// The value that a letter of the pattern matched.
  int operator[](char letter) const { return values_[index(letter)]; }
  double number(char letter) const { return numbers_[index(letter)]; }

 private:
  friend class Matching;
  static size_t index(char letter) { return static_cast<size_t>(letter - 'a'); }
  static constexpr size_t kMaxCalls = 8;
  std::array<const Instruction*, kMaxCalls> calls_{};
  std::array<int, 26> values_ = [] {
    std::array<int, 26> no_values{};
    no_values.fill(kKeep);
    return no_values;
  }();
  std::array<double, 26> numbers_{};
};

/// A condition of a rule besides its pattern, as text and as a function. When `holds` is null, the
/// rule's `build` checks the condition.
struct Condition {
  std::string_view text;
  bool (*holds)(const Rewriting&, const Match&) = nullptr;
};

/// Whether a replacement gives the same bits (but for the sign of a zero) or differs by rounding.
enum class Digits : uint8_t { same, rounded };

/// A rule: where `pattern` matches and the condition holds, `replacement` is computed instead.
struct RewriteRule {
  std::string_view pattern, replacement;
  Condition condition = {};
  /// Returns the value that replaces the matched one, or kKeep. If `build` is null, the replacement
  /// is built from the text `replacement` and broadcast to the shape of the result.
  int (*build)(Rewriting&, const Match&) = nullptr;
  Digits digits = Digits::same;
};

/// The rules of a pass, in the order in which they are tried.
class CRESCENT_API RuleTable {
 public:
  RuleTable(std::string_view pass, std::span<const RewriteRule> rules);

  std::string_view pass() const { return pass_; }
  std::span<const RewriteRule> rules() const { return rules_; }
  /// Applies the first rule that fits to each instruction; returns whether a rule was applied.
  bool rewrite(Program& program) const;

 private:
  struct ParsedRule {
    const RewriteRule* rule;
    Term pattern, replacement;  ///< `replacement` is empty if the rule has `build`
    unsigned order_count = 1;   ///< number of ways to order the operands of commutative calls
  };
  int apply(Rewriting& r, const Instruction& instruction) const;

  std::string_view pass_;
  std::span<const RewriteRule> rules_;
  std::vector<ParsedRule> parsed_rules_;
};

}  // namespace crescent::passes
