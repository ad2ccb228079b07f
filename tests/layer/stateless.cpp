// Stateless calls of layers, optimizers and metrics beside those with state.
#include <catch2/catch.hpp>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

Tensors values_of(const Variables& variables) {
  Tensors values;
  for (const Variable& v : variables) values.push_back(v.value().clone());
  return values;
}

bool are_equal(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (ops::any(ops::not_equal(a[i], b[i])).item() != 0) return false;
  return true;
}

}  // namespace

TEST_CASE("a stateless call of a layer gives what a call gives and leaves the layer unchanged") {
  const auto layer = make<Layer>("BatchNormalization");
  const Tensor x = global_random().normal({8, 3});
  (*layer)(x);
  const Tensors trainable = values_of(layer->trainable_weights()),
                fixed = values_of(non_trainable_state(*layer));
  const CallOptions training{.training = true};
  const StatelessCall call = stateless_call(*layer, trainable, fixed, {x}, training);
  CHECK(are_equal(values_of(non_trainable_state(*layer)), fixed));
  CHECK(are_equal(call.outputs, {(*layer)(x, training)}));
  CHECK(are_equal(values_of(non_trainable_state(*layer)), call.non_trainable));
  CHECK_THROWS_WITH(stateless_call(*layer, {}, fixed, {x}),
                    Contains("length 0, but expected 2 variables"));
}

TEST_CASE("random generators of a layer are part of its state") {
  const auto layer = make<Layer>("Dropout", Dict{{"rate", 0.5}});
  const Tensor x = ops::ones({64}, DType::float32);
  (*layer)(x);
  const Tensors state = values_of(non_trainable_state(*layer));
  REQUIRE(state.size() == 1);
  const CallOptions training{.training = true};
  const StatelessCall first = stateless_call(*layer, {}, state, {x}, training);
  CHECK(are_equal(first.outputs, stateless_call(*layer, {}, state, {x}, training).outputs));
  CHECK(!are_equal(first.outputs,
                   stateless_call(*layer, {}, first.non_trainable, {x}, training).outputs));
}

TEST_CASE("a stateless update of an optimizer gives what apply assigns") {
  const auto optimizer = make<Optimizer>("Adam", Dict{{"learning_rate", 0.1}});
  const Variables variables{Variable(global_random().normal({3, 2}))};
  optimizer->build(variables);
  const Tensors gradients{global_random().normal({3, 2})}, before = values_of(variables);
  const StatelessUpdate update =
      stateless_apply(*optimizer, values_of(optimizer->state()), gradients, before);
  CHECK(are_equal(values_of(variables), before));
  optimizer->apply(gradients, variables);
  CHECK(are_equal(values_of(variables), update.trainable));
  CHECK(are_equal(values_of(optimizer->state()), update.optimizer));
}

TEST_CASE("stateless functions of a metric") {
  const auto metric = make<Metric>("MeanSquaredError");
  const Tensor truth = Tensor::from<float>({1, 2}, {2, 1}),
               prediction = Tensor::from<float>({3, 2}, {2, 1});
  const Tensors state =
      stateless_update_state(*metric, stateless_reset_state(*metric), truth, prediction);
  CHECK(stateless_result(*metric, state).item() == 2);
  CHECK(metric->result().item() == 0);
}

TEST_CASE("gradients flow through assignments within a scope, and to values that are given") {
  const Variable v(Tensor::scalar(2.0));
  const Tensor given = Tensor::scalar(3.0);
  GradientTape tape;
  tape.watch(given);
  Tensor y;
  {
    const StatelessScope scope({{v, given}});
    v.assign(v.value() * v.value());
    y = v.value() * 5.0;
    CHECK(scope.current_value(v).item() == 9);
    const StatelessScope inner_scope;
    CHECK(v.value().item() == 2);
  }
  CHECK(v.value().item() == 2);
  CHECK(tape.gradient(y, Tensors{given}).front().item() == 30);
  CHECK_THROWS_WITH(StatelessScope({{v, ops::ones({2}, DType::float32)}}),
                    Contains("Invalid variable value in StatelessScope"));
}

TEST_CASE("shapes are inferred within a scope without an effect on its values") {
  const auto layer = make<Layer>("BatchNormalization");
  (*layer)(ops::ones({2, 3}, DType::float32));
  const Variable mean = non_trainable_state(*layer).front();
  const StatelessScope scope({{mean, ops::ones({3}, DType::float32)}});
  CHECK(layer->compute_output_shape({Shape{4, 3}}).front() == Shape{4, 3});
  CHECK(are_equal({scope.current_value(mean)}, {ops::ones({3}, DType::float32)}));
}
