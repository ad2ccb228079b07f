// check_layer and check_gradient find every planted fault, and none in correct code.
#include <catch2/catch.hpp>

#include "broken_layers.h"
#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

const CheckResult* result_of(const CheckReport& report, const std::string& name) {
  for (const CheckResult& result : report.results)
    if (result.name == name) return &result;
  return nullptr;
}

Dict options_of(const std::string& name) {
  return name == "ForgetsOption" ? Dict{{"factor", 2.0}} : Dict();
}

/// The text of the only failed result of a gradient check; empty if none failed.
std::string failure_of(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs) {
  std::string text;
  for (const CheckResult& result : check_gradient(f, inputs).results)
    if (result.outcome == CheckOutcome::failed) text += concat(result.name, ": ", result.text);
  return text;
}

Tensor values(const std::vector<double>& numbers, DType dtype = DType::float64) {
  return ops::cast(Tensor::from(numbers, {static_cast<int64_t>(numbers.size())}), dtype);
}

}  // namespace

TEST_CASE("check_layer finds each of the layers that are wrong in one way", "[P10]") {
  for (const BrokenLayer& faulty_layer : broken_layers()) {
    const bool has_steps = std::string(faulty_layer.name) == "WrongMask";
    LayerCheckOptions checks;
    checks.shapes = {has_steps ? Shape{4, 3} : Shape{3}};
    const CheckReport report =
        check_layer(faulty_layer.name, options_of(faulty_layer.name), checks);
    INFO(report.text());
    CHECK_FALSE(report.ok());
    const CheckResult* result = result_of(report, faulty_layer.check);
    REQUIRE(result);
    CHECK(result->outcome == CheckOutcome::failed);
    CHECK_THAT(result->text, Contains(faulty_layer.expected_text));
  }
}

TEST_CASE("check_layer passes a layer that is right") {
  broken_layers();
  LayerCheckOptions checks;
  checks.shapes = {{4, 3}};
  const CheckReport report = check_layer("Right", {{"power", 3.0}}, checks);
  INFO(report.text());
  CHECK(report.ok());
  CHECK(report.results.size() > 20);
}

TEST_CASE("check_layer refuses names of checks that are none, and shapes that are missing") {
  LayerCheckOptions checks;
  checks.shapes = {{3}};
  checks.without = {"mask"};
  CHECK_THROWS_WITH(check_layer("Identity", {}, checks), Contains("did you mean 'masks'?"));
  checks.without.clear();
  CHECK_THROWS_WITH(check_layer("Identit", {}, checks), Contains("did you mean 'Identity'?"));
  CHECK_THROWS_WITH(check_layer("Identity", {}, LayerCheckOptions()),
                    Contains("expected the shape of each input"));
}

TEST_CASE("check_gradient compares each input in float64 and float32") {
  for (const DType dtype : {DType::float64, DType::float32}) {
    const Tensors x{values({1, 2, 3}, dtype), values({0.5, -1, 2}, dtype)};
    CHECK(failure_of([](const Tensors& in) { return Tensors{ops::sin(in[0]) * in[1]}; }, x) == "");
    const auto function_with_wrong_gradient = [](const Tensors& in) {
      return Tensors{in[0] * in[1] + ops::stop_gradient(in[1] * in[1])};
    };
    CHECK_THAT(failure_of(function_with_wrong_gradient, x),
               Catch::StartsWith("by input 2: by element {"));
  }
}

TEST_CASE("check_gradient differentiates by each of two inputs that are one tensor") {
  const Tensor x = values({1, 2, 3});
  const auto f = [](const Tensors& in) { return Tensors{ops::sin(in[0]) * in[1]}; };
  CHECK(failure_of(f, {x, x}) == "");
  const auto function_off_by_one_percent = [](const Tensors& in) {
    return Tensors{(in[0] * 1.01 - ops::stop_gradient(in[0] * 0.01)) * in[1]};
  };
  CHECK_THAT(failure_of(function_off_by_one_percent, {x, x}),
             Catch::StartsWith("by input 1: by element {"));
}

TEST_CASE("check_gradient reports kinks, and no kink excuses a gradient beside both slopes") {
  const Tensors x{values({-1, 0, 2})};
  const CheckReport report =
      check_gradient([](const Tensors& in) { return Tensors{ops::relu(in[0])}; }, x);
  CHECK(report.ok());
  CHECK_THAT(report.text(), Contains("at a kink: by "));
  const auto function_beyond_both_slopes = [](const Tensors& in) {
    return Tensors{ops::relu(in[0]) + (in[0] - ops::stop_gradient(in[0])) * 3.0};
  };
  CHECK_THAT(failure_of(function_beyond_both_slopes, x), Contains("differences give"));
}

TEST_CASE("check_gradient differentiates by variables and leaves them as they were") {
  const Variable w(values({1, 2})), unused(values({4}));
  const auto f = [&](const Tensors& in) { return Tensors{in[0] * w.value() * w.value()}; };
  const CheckReport report = check_gradient(f, {values({3, -1})}, {w, unused});
  INFO(report.text());
  CHECK(report.ok());
  CHECK_THAT(report.text(), Contains("the results do not depend on it"));
  CHECK(w.value().to_vector() == std::vector<double>{1, 2});
}

TEST_CASE("check_gradient says that a function is random, or gives no numbers") {
  CHECK_THAT(failure_of(
                 [](const Tensors& in) {
                   return Tensors{in[0] * global_random().uniform({2}, 0, 1, DType::float64)};
                 },
                 {values({1, 2})}),
             Contains("called twice on the same inputs"));
  CHECK_THAT(failure_of([](const Tensors& in) { return Tensors{ops::argmax(in[0], -1)}; },
                        {values({1, 2})}),
             Contains("floating-point"));
}
