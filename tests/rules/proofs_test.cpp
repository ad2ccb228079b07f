// Rewrite rules of elementwise functions, proved by the solver Z3 for all numbers of a dtype:
// integers are bit vectors, floats are IEEE half-precision numbers, which follow the same rounding
// rules as wider ones. Proofs ignore the sign of zeros and the payload of NaN.
#include <z3++.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <optional>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rules.h"
#include "crescent/program/op_types.h"

using namespace crescent;
using passes::Term;

namespace {

using U = UnaryKind;
using B = BinaryKind;

/// The theory of Z3 that represents a dtype.
enum class Domain { signed_integer, unsigned_integer, floating, boolean };

constexpr Domain kDomains[] = {Domain::signed_integer, Domain::unsigned_integer, Domain::floating,
                               Domain::boolean};

const char* name_of(Domain domain) {
  switch (domain) {
    case Domain::signed_integer:
      return "int8";
    case Domain::unsigned_integer:
      return "uint8";
    case Domain::floating:
      return "float16";
    default:
      return "bool";
  }
}

/// The formula of a term; none if Z3 has no function for it.
class Formula {
 public:
  Formula(z3::context& context, Domain domain) : c_(context), domain_(domain) {
    c_.set_rounding_mode(z3::RNE);
  }
  using Result = std::optional<z3::expr>;

  Result of(const Term& term) { return of(term, domain_); }

  z3::expr same(const z3::expr& a, const z3::expr& b) const {
    if (domain_ != Domain::floating) return a == b;
    const z3::expr nan_a(c_, Z3_mk_fpa_is_nan(c_, a)), nan_b(c_, Z3_mk_fpa_is_nan(c_, b));
    return z3::expr(c_, Z3_mk_fpa_eq(c_, a, b)) || (nan_a && nan_b);
  }

 private:
  z3::sort sort(Domain domain) {
    if (domain == Domain::boolean) return c_.bool_sort();
    return domain == Domain::floating ? c_.fpa_sort(5, 11) : c_.bv_sort(8);
  }
  z3::expr number(double number, Domain domain) {
    if (domain == Domain::boolean) return c_.bool_val(number != 0);
    if (domain == Domain::floating)
      return z3::expr(c_, Z3_mk_fpa_numeral_double(c_, number, sort(domain)));
    return c_.bv_val(static_cast<int>(number), 8);
  }
  z3::expr zero() { return number(0, domain_); }
  z3::expr less(const z3::expr& a, const z3::expr& b) const {
    if (domain_ == Domain::floating) return z3::expr(c_, Z3_mk_fpa_lt(c_, a, b));
    return domain_ == Domain::signed_integer ? z3::slt(a, b) : z3::ult(a, b);
  }
  z3::expr is_nan(const z3::expr& x) const {
    return domain_ == Domain::floating ? z3::expr(c_, Z3_mk_fpa_is_nan(c_, x)) : c_.bool_val(false);
  }
  z3::expr maximum(const z3::expr& a, const z3::expr& b) const {
    return z3::ite(is_nan(a) || is_nan(b), z3::ite(is_nan(a), a, b), z3::ite(less(a, b), b, a));
  }
  z3::expr minimum(const z3::expr& a, const z3::expr& b) const {
    return z3::ite(is_nan(a) || is_nan(b), z3::ite(is_nan(a), a, b), z3::ite(less(b, a), b, a));
  }
  z3::expr rounded(const z3::expr& x, Z3_ast mode) const {
    return domain_ == Domain::floating ? z3::expr(c_, Z3_mk_fpa_round_to_integral(c_, mode, x)) : x;
  }

  Result of(const Term& term, Domain domain) {
    if (term.type == Term::Type::number) return number(term.number, domain);
    if (term.type == Term::Type::letter)
      return c_.constant(std::string(1, term.letter).c_str(), sort(domain));
    if (term.takes_any) return {};
    const bool selects = term.op == Select::kName;
    std::vector<z3::expr> operands;
    for (const Term& operand : term.operands) {
      const Domain operand_domain = selects && operands.empty() ? Domain::boolean : domain;
      const Result x = of(operand, operand_domain);
      if (!x) return {};
      operands.push_back(*x);
    }
    if (selects) return z3::ite(operands[0], operands[1], operands[2]);
    if (term.op == StopGradient::kName) return operands[0];
    if (term.op == Unary::kName) return unary(static_cast<U>(term.kind), operands[0]);
    if (term.op == Binary::kName)
      return binary(static_cast<B>(term.kind), operands[0], operands[1]);
    return {};
  }

  Result unary(U kind, const z3::expr& x) {
    if (kind == U::logical_not) return x.is_bool() ? Result(!x) : Result();
    if (x.is_bool()) return {};
    switch (kind) {
      case U::negative:
        return -x;
      case U::abs:
        return domain_ == Domain::unsigned_integer ? x : z3::ite(less(x, zero()), -x, x);
      case U::square:
        return x * x;
      case U::relu:
        return maximum(x, zero());
      case U::sign:
        return z3::ite(less(x, zero()), number(-1, domain_),
                       z3::ite(less(zero(), x), number(1, domain_), x));
      case U::floor:
        return rounded(x, Z3_mk_fpa_rtn(c_));
      case U::ceil:
        return rounded(x, Z3_mk_fpa_rtp(c_));
      case U::round:
        return rounded(x, Z3_mk_fpa_rne(c_));
      case U::reciprocal:
        return domain_ == Domain::floating ? Result(number(1, domain_) / x) : Result();
      default:
        return {};
    }
  }

  Result binary(B kind, const z3::expr& a, const z3::expr& b) {
    if (a.is_bool()) {
      if (kind == B::logical_and) return a && b;
      return kind == B::logical_or ? Result(a || b) : Result();
    }
    switch (kind) {
      case B::add:
        return a + b;
      case B::subtract:
        return a - b;
      case B::multiply:
        return a * b;
      case B::divide:
        return domain_ == Domain::floating ? Result(a / b) : Result();
      case B::maximum:
        return maximum(a, b);
      case B::minimum:
        return minimum(a, b);
      default:
        return {};
    }
  }

  z3::context& c_;
  Domain domain_;
};

/// Whether the condition of a rule excludes the domain.
bool excludes(const passes::RewriteRule& rule, Domain domain) {
  const std::string_view text = rule.condition.text;
  if (text == "of floats") return domain != Domain::floating;
  if (text == "not of booleans") return domain == Domain::boolean;
  return text == "of numbers with a sign" && domain == Domain::unsigned_integer;
}

/// The answer of Z3 to the question whether there are numbers for which both sides of the rule
/// differ; nullopt if Z3 cannot express the rule.
std::optional<z3::check_result> sides_differ(const passes::RewriteRule& rule, Domain domain,
                                             std::string& counterexample) {
  if (rule.build || excludes(rule, domain)) return {};
  z3::context context;
  Formula formula(context, domain);
  const auto before = formula.of(passes::parse_term(rule.pattern)),
             after = formula.of(passes::parse_term(rule.replacement));
  if (!before || !after) return {};
  z3::solver solver(context);
  solver.add(!formula.same(*before, *after));
  const z3::check_result answer = solver.check();
  if (answer == z3::sat) counterexample = solver.get_model().to_string();
  return answer;
}

}  // namespace

TEST_CASE("the identities of elementwise functions are proved") {
  int proved_count = 0;
  for (const passes::RuleTable* table : passes::rule_tables()) {
    for (const passes::RewriteRule& rule : table->rules()) {
      for (Domain domain : kDomains) {
        std::string counterexample;
        const auto answer = sides_differ(rule, domain, counterexample);
        if (!answer) continue;
        INFO(rule.pattern << " -> " << rule.replacement << " of " << name_of(domain)
                          << " is wrong for " << counterexample);
        CHECK(*answer == z3::unsat);
        ++proved_count;
      }
    }
  }
  std::printf("%d proofs\n", proved_count);
  CHECK(proved_count > 60);
}

TEST_CASE("a wrong identity is refuted") {
  const passes::RewriteRule abs_of_negative{"abs(negative(x))", "abs(x)"},
      reordered{"add(x, subtract(y, z))", "subtract(add(x, y), z)"};
  std::string counterexample;
  CHECK(sides_differ(abs_of_negative, Domain::unsigned_integer, counterexample) == z3::sat);
  CHECK(sides_differ(abs_of_negative, Domain::signed_integer, counterexample) == z3::unsat);
  CHECK(sides_differ(reordered, Domain::floating, counterexample) == z3::sat);
  CHECK(sides_differ(reordered, Domain::signed_integer, counterexample) == z3::unsat);
}
