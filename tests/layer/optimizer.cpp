// The parts that all optimizers have in common: clipping, weight decay, averages, schedules.
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

Variable weight(std::vector<float> values) {
  const int64_t count = static_cast<int64_t>(values.size());
  Variable::Options options;
  options.name = "w";
  return Variable(Tensor::from(values, {count}), options);
}

Tensor gradient(std::vector<float> values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

std::vector<double> weights_after(const Dict& options, std::vector<float> w,
                                  std::vector<std::vector<float>> gradients) {
  auto sgd = make<Optimizer>("SGD", options);
  const Variables variables{weight(w)};
  for (const auto& g : gradients) sgd->apply(Tensors{gradient(g)}, variables);
  return variables.front().value().to_vector();
}

std::vector<double> rounded(std::vector<double> v) {
  for (double& x : v) x = std::round(x * 1e5) / 1e5;
  return v;
}

}  // namespace

TEST_CASE("gradients are clipped by value, norm and global norm, one of them") {
  CHECK(rounded(weights_after({{"learning_rate", 1}, {"clipvalue", 0.5}}, {1, 1}, {{2, -0.25}})) ==
        std::vector<double>{0.5, 1.25});
  CHECK(rounded(weights_after({{"learning_rate", 1}, {"clipnorm", 1}}, {1, 1}, {{3, 4}})) ==
        std::vector<double>{0.4, 0.2});
  CHECK(rounded(weights_after({{"learning_rate", 1}, {"global_clipnorm", 1}}, {1, 1}, {{3, 4}})) ==
        std::vector<double>{0.4, 0.2});
  CHECK_THROWS_WITH(weights_after({{"clipnorm", 1}, {"clipvalue", 1}}, {1}, {{1}}),
                    Contains("only one of"));
}

TEST_CASE("decay, accumulation and averages follow Keras 3") {
  CHECK(rounded(weights_after({{"learning_rate", 0.5}, {"weight_decay", 0.1}}, {2}, {{1}})) ==
        std::vector<double>{1.4});
  CHECK(rounded(weights_after({{"learning_rate", 1}, {"gradient_accumulation_steps", 2}}, {1},
                              {{1}})) == std::vector<double>{1});
  CHECK(rounded(weights_after({{"learning_rate", 1}, {"gradient_accumulation_steps", 2}}, {1},
                              {{1}, {3}})) == std::vector<double>{-1});
  CHECK(rounded(weights_after({{"learning_rate", 1}, {"loss_scale_factor", 4}}, {1}, {{4}})) ==
        std::vector<double>{0});
  CHECK(rounded(weights_after({{"learning_rate", 1},
                               {"use_ema", true},
                               {"ema_momentum", 0.5},
                               {"ema_overwrite_frequency", 2}},
                              {1}, {{1}, {1}})) == std::vector<double>{-0.5});
  // With gradient accumulation, the moving average changes with every batch, but it overwrites the
  // weight after a number of updates, not of batches.
  CHECK(rounded(weights_after({{"learning_rate", 1},
                               {"use_ema", true},
                               {"ema_momentum", 0.5},
                               {"ema_overwrite_frequency", 2},
                               {"gradient_accumulation_steps", 2}},
                              {1}, {{1}, {1}, {3}, {3}})) == std::vector<double>{-1.5});
}

TEST_CASE("state is iterations, rate, then slots; the rate can be set") {
  auto adam = make<Optimizer>("Adam", {{"learning_rate", 0.25}});
  CHECK(adam->learning_rate().value().item() == 0.25);
  const Variables variables{weight({1, 2}), weight({3})};
  adam->apply(Tensors{gradient({1, 1}), Tensor()}, variables);
  CHECK(adam->iterations().value().item() == 1);
  CHECK(adam->state().size() == 2 + 2 * 2);
  CHECK(adam->slot("velocity").size() == 2);
  CHECK(variables[1].value().item() == 3);
  adam->set_learning_rate(0.5);
  CHECK(adam->learning_rate().value().item() == 0.5);
  CHECK(adam->get_config().at("learning_rate").as_float() == 0.5);
  CHECK_THROWS_WITH(adam->apply(Tensors{Tensor(), Tensor()}, variables),
                    Contains("No gradients provided for any variable"));
}

TEST_CASE("an optimizer takes new variables and keeps the slots of the others") {
  auto adam = make<Optimizer>("Adam");
  const Variable a = weight({1, 2}), b = weight({3}), c = weight({4});
  adam->apply(Tensors{gradient({1, 1}), gradient({1})}, {a, b});
  const Variables slots = adam->slot("momentum");
  // An update of only one of the two variables keeps the slots of both.
  adam->apply(Tensors{gradient({1})}, {b});
  CHECK(adam->slot("momentum") == slots);
  adam->apply(Tensors{gradient({1})}, {c});
  CHECK(adam->slot("momentum").size() == 3);
  CHECK(adam->slot("momentum")[1] == slots[1]);
  adam->build({c, b});  // now the state has slots of these variables only, in this order
  CHECK(adam->slot("momentum").size() == 2);
  CHECK(adam->slot("momentum")[1] == slots[1]);
  CHECK(adam->state()[2].path() == "w/momentum");
  adam->build({a, b, c});
  CHECK(adam->slot("momentum")[0] == slots[0]);
  auto inner_optimizer = make<Optimizer>("Adam");
  auto scaling_optimizer =
      make<Optimizer>("LossScaleOptimizer", {{"inner_optimizer", Value(inner_optimizer)}});
  scaling_optimizer->apply(Tensors{gradient({1})}, {b});
  scaling_optimizer->apply(Tensors{gradient({1})}, {c});
  CHECK(inner_optimizer->slot("momentum").size() == 2);
}

TEST_CASE(
    "a scaled loss: steps that are not finite are left out and halve the scale, finite ones double "
    "it in the end") {
  auto adam = make<Optimizer>("Adam", {{"learning_rate", 0.25}}),
       same = make<Optimizer>("Adam", {{"learning_rate", 0.25}});
  auto scaling_optimizer = make<Optimizer>(
      "LossScaleOptimizer",
      {{"inner_optimizer", Value(adam)}, {"initial_scale", 8}, {"dynamic_growth_steps", 2}});
  const Variables variables{weight({1, 2})}, plain{weight({1, 2})};
  CHECK(scaling_optimizer->scale_loss(Tensor(0.5)).item() == 4);
  scaling_optimizer->build(variables);
  auto loss_scale = [&] { return scaling_optimizer->state().back().value().item(); };
  auto step = [&](float g) {
    const float factor = static_cast<float>(scaling_optimizer->scale_loss(Tensor(1.0)).item());
    scaling_optimizer->apply(Tensors{gradient({g * factor, factor})}, variables);
  };
  CHECK(scaling_optimizer->scale_loss(Tensor(0.5)).item() == 4);
  for (float g : {3.0f, HUGE_VALF, 2.0f, NAN, 0.5f, 0.25f, 4.0f}) {
    step(g);
    if (std::isfinite(g)) same->apply(Tensors{gradient({g, 1})}, plain);
  }
  CHECK(variables[0].value().to_vector() == plain[0].value().to_vector());
  CHECK(scaling_optimizer->iterations().value().item() == 5);
  CHECK(loss_scale() == 4);
  CHECK(scaling_optimizer->learning_rate().value().item() == 0.25);
  CHECK(get<Optimizer>(serialize(scaling_optimizer.get()))
            ->get_config()
            .at("initial_scale")
            .as_float() == 8);
  CHECK_THROWS_WITH(make<Optimizer>("LossScaleOptimizer", {{"inner_optimizer", Value()}})->state(),
                    Contains("got none"));
  CHECK_THROWS_WITH(
      make<Optimizer>("LossScaleOptimizer", {{"inner_optimizer", "sgd"}, {"clipnorm", 1}})
          ->build(plain),
      Contains("inner_optimizer"));
}
