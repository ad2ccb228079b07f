// Every rewrite rule of every pass is applied to random programs that match it; the results must
// not change.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "compile/passes/passes.h"
#include "crescent/program/op.h"
#include "distance.h"
#include "rules/drawing.h"

using namespace crescent;
using namespace crescent::rules;
using passes::Digits;
using passes::RewriteRule;
using passes::RuleTable;

namespace {

/// The number of programs for each rule.
uint64_t trials() {
  const char* count = std::getenv("CRESCENT_RULE_TRIALS");
  return count ? std::strtoull(count, nullptr, 10) : 400;
}

bool is_about_products(std::string_view pass) {
  return pass == "batch_norm" || pass == "epilogues" || pass == "residuals" ||
         pass == "transposes" || pass == "precision";
}

Drawing::CommonProperties draw_common_properties(Dice& dice, bool may_have_products) {
  std::vector<int64_t> dims;
  for (int64_t rank = dice.between(may_have_products ? 2 : 0, 4); rank > 0; --rank)
    dims.push_back(dice.one_of({1, 2, 3, 4, 5, 7, 8, 12}));
  if (may_have_products && dice.happens(30)) dims[0] *= 16;
  const DType floating_dtype = dice.one_of({DType::float32, DType::float32, DType::float64,
                                            DType::float16, DType::bfloat16, DType::bfloat16});
  const DType any_dtype = dice.one_of({floating_dtype, DType::int8, DType::int16, DType::int32,
                                       DType::int64, DType::uint8, DType::boolean});
  return {Shape(dims), may_have_products || dice.happens(50) ? floating_dtype : any_dtype,
          may_have_products};
}

/// The relative difference that may come from doing operations in another order.
double rounding(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 64 * 0x1p-52;
    case DType::float32:
      return 64 * 0x1p-23;
    case DType::float16:
      return 8 * 0x1p-10;
    case DType::bfloat16:
      return 8 * 0x1p-7;
    default:
      return 0;
  }
}

struct Evaluation {
  Tensor result;
  double largest = 1;  ///< the largest magnitude of intermediate values
  /// The rounding error of the narrowest floating-point dtype among intermediate values.
  double rounding = 0;
};

/// Runs the instructions of the program one by one.
Evaluation evaluate(const Program& program, const Tensors& inputs) {
  Tensors values(program.values.size());
  auto at = [&](int value) -> Tensor& { return values[static_cast<size_t>(value)]; };
  for (size_t i = 0; i < inputs.size(); ++i) at(program.inputs[i]) = inputs[i];
  for (const Program::Constant& c : program.constants) at(c.value) = c.tensor;
  Evaluation evaluation;
  for (const Program::Instruction& i : program.code) {
    Tensors operands;
    for (int value : i.inputs) operands.push_back(at(value));
    const Tensors results = crescent::apply(i.op, operands);
    for (size_t o = 0; o < results.size(); ++o) {
      at(i.outputs[o]) = results[o];
      evaluation.rounding = std::max(evaluation.rounding, rounding(results[o].dtype()));
      evaluation.largest = magnitude(results[o].to_vector(), evaluation.largest);
    }
  }
  evaluation.result = at(program.outputs[0]);
  return evaluation;
}

/// Checks dtype, shape and values; the sign of a floating-point zero may differ. Integers are
/// compared as bytes, because a double cannot represent all of them.
void check_same(const Evaluation& want, const Tensor& got, Digits digits) {
  REQUIRE(got.spec() == want.result.spec());
  if (!is_floating(got.dtype())) {
    REQUIRE(std::memcmp(got.raw(), want.result.raw(), got.bytes()) == 0);
    return;
  }
  const double tolerance = digits == Digits::same ? 0 : want.rounding * want.largest;
  CHECK(farthest(got.to_vector(), want.result.to_vector()) <= tolerance);
}

Tensors draw_inputs(Dice& dice, const Program& program, NumberRange numbers) {
  Tensors inputs;
  for (int value : program.inputs)
    inputs.push_back(draw_tensor(dice, program.values[static_cast<size_t>(value)], numbers));
  return inputs;
}

/// Applies the rule to the program made from the seed; returns whether it matched. Indices in the
/// program may be out of range, which devices clamp.
bool try_rule(const RuleTable& table, const RewriteRule& rule, uint64_t seed) {
  Dice dice(seed);
  Program program;
  try {
    program = Drawing(dice, draw_common_properties(dice, is_about_products(table.pass())))
                  .program(passes::parse_term(rule.pattern));
  } catch (const Error&) {
    return false;
  }
  Program after = program;
  const RuleTable single_rule(table.pass(), {&rule, 1});
  if (!single_rule.rewrite(after)) return false;
  INFO("pass " << table.pass() << ", rule " << rule.pattern << " -> " << rule.replacement
               << ", seed " << seed << "\nbefore:\n"
               << program.text() << "after:\n"
               << after.text());
  passes::validate(after);
  const NumberRange numbers =
      rule.digits == Digits::same ? NumberRange::special : NumberRange::tame;
  const Tensors inputs = draw_inputs(dice, program, numbers);
  check_same(evaluate(program, inputs), evaluate(after, inputs).result, rule.digits);
  return true;
}

}  // namespace

TEST_CASE("every rule computes the same on random programs") {
  for (const RuleTable* table : passes::rule_tables()) {
    for (const RewriteRule& rule : table->rules()) {
      uint64_t applied_count = 0;
      for (uint64_t seed = 1; seed <= trials(); ++seed)
        applied_count += try_rule(*table, rule, seed);
      INFO("pass " << table->pass() << ", rule " << rule.pattern << " applied in " << applied_count
                   << " of " << trials());
      CHECK(applied_count >= trials() / 100);
    }
  }
}
