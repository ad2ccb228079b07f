// Tests of the random-program library: it must detect wrong results and simplify the programs that
// give them.
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "compile/passes/passes.h"
#include "crescent/layer/operation.h"
#include "crescent/ops/ops.h"
#include "distance.h"
#include "random/check.h"
#include "random/draft.h"
#include "random/reference/reference.h"
#include "random/shrinker.h"

namespace crescent::random_programs {
namespace {

Recipe recipe_of(uint64_t seed) {
  Choices choices(seed);
  return draw_recipe(choices);
}

/// Functions that random programs never call, with the reasons.
const std::set<std::string> kUncalledFunctions{
    "nextafter",  // nextafter(0) is so small that the steps in between flush it to 0
    // functions whose result is a shape, or has a shape that depends on values
    "bincount", "nonzero", "unique", "shape", "size", "ndim", "dtype",
    // functions that need several processes
    "all_reduce"};

/// Compares the results of a random program with those of the reference. Returns false if they
/// cannot be compared, because the program has floating-point dtypes other than float64 or the
/// reference is unreliable.
bool agrees_with_reference(const Recipe& recipe) {
  const auto has_other_float = [](const Node& node) {
    return is_floating(node.spec.dtype) && node.spec.dtype != DType::float64;
  };
  if (recipe.outputs.empty() ||
      std::any_of(recipe.nodes.begin(), recipe.nodes.end(), has_other_float))
    return false;
  const Tensors inputs = draw_inputs(recipe, 0);
  TensorSpecs specs;
  std::vector<Array> arrays;
  for (const Tensor& x : inputs) specs.push_back(x.spec()), arrays.push_back(array_of(x));
  const Program program = trace([&](const Tensors& in) { return run(recipe, in); }, specs);
  try {
    const std::vector<Array> results = interpret(program, arrays);
    const Tensors device_results = run(recipe, inputs);
    for (size_t i = 0; i < device_results.size(); ++i)
      CHECK(farthest(results[i].values, device_results[i].to_vector()) <=
            1e-9 * magnitude(results[i].values, 1));
    return true;
  } catch (const Unreliable&) {
    return false;
  }
}

}  // namespace

TEST_CASE("choices are made again") {
  Choices choices(5);
  const Recipe recipe = draw_recipe(choices);
  Choices replayed_choices(choices.recorded_choices());
  CHECK(to_lua(draw_recipe(replayed_choices)) == to_lua(recipe));
  CHECK(replayed_choices.recorded_choices() == choices.recorded_choices());
  CHECK(replayed_choices.steps() == choices.steps());
}

TEST_CASE("the reference computes what ops compute in float64") {
  int compared_count = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    compared_count += agrees_with_reference(recipe_of(seed));
  }
  CHECK(compared_count > 10);
}

/// Programs whose intermediate values are complex numbers or coordinates are left out, because
/// these are float32.
TEST_CASE("the reference computes what ops of special fields compute in float64") {
  constexpr int kMinComparedGenerators = 30;
  int compared_generator_count = 0;
  for (const CallGenerator& generator : special_generators()) {
    int compared_count = 0;
    for (uint64_t seed = 1; seed <= 150; ++seed) {
      INFO(generator.function << ", seed " << seed);
      Choices choices(seed);
      Draft draft(choices, 5000);
      try {
        draft.recipe.outputs = {generator.add(draft)};
      } catch (const Error&) {
        continue;
      }
      draft.recipe.has_gradients = true;
      compared_count += agrees_with_reference(draft.recipe);
    }
    compared_generator_count += compared_count > 0;
  }
  CHECK(compared_generator_count >= kMinComparedGenerators);
}

TEST_CASE("the reference tells of how many numbers rounding decides whether they are equal") {
  const auto unequal_count = [](double distance) {
    std::vector<double> numbers(100);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 0.5 + distance * static_cast<double>(i);
    const Tensor x = Tensor::from(numbers, {100});
    const Program program = trace(
        [](const Tensors& in) {
          const Tensor logs = ops::log(ops::cast(ops::cast(in[0], DType::float16), DType::float32));
          return Tensors{ops::equal(logs, ops::min(logs))};
        },
        TensorSpecs{x.spec()});
    Equalities equalities;
    interpret(program, {array_of(x)}, {}, &equalities);
    for (uint64_t seed = 1; seed <= 20; ++seed)
      interpret(program, {array_of(x)}, Rounding(seed), &equalities);
    return equalities.most_by_rounding();
  };
  CHECK(unequal_count(0.01) == 0);
  CHECK(unequal_count(1e-6) > 8);
  CHECK(unequal_count(0) > 8);
}

TEST_CASE("some random programs have losses that are computed in chunks") {
  int chunked_count = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    const Recipe recipe = recipe_of(seed);
    TensorSpecs specs;
    for (const Tensor& x : draw_inputs(recipe, 0)) specs.push_back(x.spec());
    Program program = trace([&](const Tensors& in) { return run(recipe, in); }, specs);
    chunked_count += passes::chunked_losses(program, 256);
  }
  CHECK(chunked_count > 1);
}

TEST_CASE("one of several right values is no output, and no operand of another row") {
  int internal_count = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const Recipe recipe = recipe_of(seed);
    for (int output : recipe.outputs) CHECK(!recipe.nodes[static_cast<size_t>(output)].is_internal);
    for (const Node& node : recipe.nodes) internal_count += node.is_internal;
  }
  CHECK(internal_count > 0);
  Choices choices(1);
  Draft draft(choices, 64);
  const TensorSpec spec{DType::float32, {2}};
  const int hidden_value = draft.mark_internal(draft.input(spec));
  for (int i = 0; i < 20; ++i)
    CHECK(draft.operand([&](const TensorSpec& s) { return s == spec; }, [&] { return spec; }) !=
          hidden_value);
}

TEST_CASE("recipes written another way compute the same") {
  for (uint64_t seed = 300; seed < 330; ++seed) {
    INFO("seed " << seed);
    const Recipe recipe = recipe_of(seed);
    Choices choices(seed);
    const Recipe rewritten_recipe = rewritten(recipe, choices);
    REQUIRE(rewritten_recipe.outputs.size() == recipe.outputs.size());
    for (size_t i = 0; i < recipe.outputs.size(); ++i)
      CHECK(rewritten_recipe.nodes[static_cast<size_t>(rewritten_recipe.outputs[i])].spec ==
            recipe.nodes[static_cast<size_t>(recipe.outputs[i])].spec);
  }
}

TEST_CASE("shrinking keeps what is wrong, and little else") {
  // In this test every program that calls softplus counts as wrong; no generator calls softplus on
  // the result of another function.
  const auto differs = [](const std::vector<uint32_t>& choices) {
    Choices replayed_choices(choices);
    return draw_recipe(replayed_choices).calls("softplus");
  };
  for (uint64_t seed = 1; seed < 40000; ++seed) {
    Choices choices(seed);
    const Recipe recipe = draw_recipe(choices);
    if (!recipe.calls("softplus") || recipe.nodes.size() < 10) continue;
    Choices smallest_choices(shrink(choices.recorded_choices(), differs, 20).choices);
    const Recipe small_recipe = draw_recipe(smallest_choices);
    CHECK(small_recipe.calls("softplus"));
    CHECK(small_recipe.nodes.size() < 10);
    for (const Node& node : small_recipe.nodes) CHECK(node.spec.shape.size() <= 2);
    return;
  }
  FAIL("no program calls softplus");
}

TEST_CASE("rounding tells what may differ: sums of halves do not, those of others a little") {
  const auto spread = [](double value, DType dtype) {
    double largest_spread = 0;
    for (uint64_t seed = 1; seed < 20; ++seed)
      largest_spread =
          std::max(largest_spread,
                   std::abs(Rounding(seed).of_arithmetic(value, value, value, dtype) - value));
    return largest_spread;
  };
  CHECK(spread(1.5, DType::float32) == 0);
  CHECK(spread(0.1, DType::float32) > 1e-9);
  CHECK(spread(0.1, DType::float32) < 1e-8);
  CHECK(spread(0.1, DType::float16) > 1e-5);
}

TEST_CASE("every row can be drawn") {
  for (const CallGenerator& generator : call_generators()) {
    INFO(generator.function);
    bool succeeded = false;
    for (uint64_t seed = 1; seed <= 300 && !succeeded; ++seed) {
      Choices choices(seed);
      Draft draft(choices, 5000);
      try {
        const int value = generator.add(draft);
        succeeded = value >= 0;
      } catch (const Error&) {
      }
    }
    CHECK(succeeded);
  }
}

TEST_CASE("every function of cr.ops is drawn, or it is said why not") {
  std::set<std::string> called_functions;
  for (const CallGenerator& generator : call_generators())
    called_functions.insert(generator.function);
  for (uint64_t seed = 1; seed <= 500; ++seed)
    for (const Node& node : recipe_of(seed).nodes) called_functions.insert(node.function);
  int missing_count = 0;
  for (const std::string& name : registry().names(Operation::kKind)) {
    if (called_functions.count(name) != 0 || kUncalledFunctions.count(name) != 0) continue;
    // These functions are left out, because they depend on box formats, which tests/shell covers.
    if (name.starts_with("bounding_boxes.")) continue;
    const auto operation = get<Operation>(Value(name));
    bool is_drawn = false;
    for (const std::string& alias : operation->schema().functions)
      is_drawn =
          is_drawn || called_functions.count(alias) != 0 || kUncalledFunctions.count(alias) != 0;
    if (is_drawn) continue;
    ++missing_count;
    UNSCOPED_INFO(name);
  }
  CHECK(missing_count == 0);
}

}  // namespace crescent::random_programs
