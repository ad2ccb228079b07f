// Rules as data: what a pass rewrites, when, and into what. The texts of a rule are what the pass
// looks for, what documentation shows, and what tests draw programs from.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "compile/passes/rewriting/rewriting.h"
#include "compile/passes/rewriting/term.h"

namespace crescent::passes {

/// Where a pattern was found.
class Match {
 public:
  /// The instruction of the n-th call of the pattern, from left to right; 0 is the whole.
  const Instruction& call(size_t n = 0) const { return *calls_[n]; }
  template <class T>
  const T& op(size_t n = 0) const {
    return op_of<T>(call(n));
  }
  /// The value that the letter stands for.
  int operator[](char letter) const { return values_[index(letter)]; }
  double number(char letter) const { return numbers_[index(letter)]; }

 private:
  friend class Matching;
  static size_t index(char letter) { return static_cast<size_t>(letter - 'a'); }
  static constexpr size_t kMostCalls = 8;
  std::array<const Instruction*, kMostCalls> calls_{};
  std::array<int, 26> values_ = [] {
    std::array<int, 26> none{};
    none.fill(kKeep);
    return none;
  }();
  std::array<double, 26> numbers_{};
};

/// What must hold beside the pattern, in words and as a test; without a test, `build` looks itself.
struct Condition {
  std::string_view text;
  bool (*holds)(const Rewriting&, const Match&) = nullptr;
};

/// Whether a replacement gives the same numbers bit by bit (but for the sign of a zero), or others
/// within what rounding does.
enum class Digits : uint8_t { same, rounded };

/// Where `pattern` is found and the condition holds, the replacement is computed instead.
struct RewriteRule {
  std::string_view pattern, replacement;
  Condition condition = {};
  /// The value of the replacement, or kKeep; null: what `replacement` says, stretched to the shape
  /// of the result.
  int (*build)(Rewriting&, const Match&) = nullptr;
  Digits digits = Digits::same;
};

/// The rules of a pass, in the order in which they are tried.
class CRESCENT_API RuleTable {
 public:
  RuleTable(std::string_view pass, std::span<const RewriteRule> rules);

  std::string_view pass() const { return pass_; }
  std::span<const RewriteRule> rules() const { return rules_; }
  /// Offers every instruction to the rules, until one applies. True when any did.
  bool rewrite(Program& program) const;

 private:
  struct Parsed {
    const RewriteRule* rule;
    Term pattern, replacement;  ///< the replacement only where nothing builds it
    unsigned orders = 1;        ///< ways to order the operands of commutative calls
  };
  int apply(Rewriting& r, const Instruction& instruction) const;

  std::string_view pass_;
  std::span<const RewriteRule> rules_;
  std::vector<Parsed> parsed_;
};

}  // namespace crescent::passes
