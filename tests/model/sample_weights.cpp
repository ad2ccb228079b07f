// Weights of samples and classes: which values they multiply, and how they are passed to fit.
#include <catch2/catch.hpp>

#include "small_model.h"

using namespace crescent;
using namespace crescent::small;
using Catch::Contains;

TEST_CASE("weights of samples and classes multiply the loss") {
  const Tensor x = data(6), y = targets(x);
  auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  const double unweighted_mse = model->evaluate({x}, {y}, {{"verbose", 0}}).front().second;
  const double doubled_loss =
      model->evaluate({x}, {y}, {{"verbose", 0}, {"sample_weight", boxed(Tensor::full({6}, 2))}})
          .front()
          .second;
  CHECK(doubled_loss == Approx(2 * unweighted_mse));
  auto class_model = small_model("softmax", 2);
  class_model->compile(
      {{"optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", 0.0}}}}},
       {"loss", "sparse_categorical_crossentropy"}});
  const Tensor numbers = labels(6, 2);
  const double unweighted_loss =
      class_model->train_on_batch({x}, {numbers}, {}, {}, true).front().second;
  const double tripled_loss =
      class_model->train_on_batch({x}, {numbers}, {}, {{"0", 3}, {"1", 3}}, true).front().second;
  CHECK(tripled_loss == Approx(3 * unweighted_loss).epsilon(1e-5));
  const double loss_of_class_0 =
      class_model->train_on_batch({x}, {numbers}, {}, {{"0", 3}}, true).front().second;
  const double loss_with_both =
      class_model->train_on_batch({x}, {numbers}, {}, {{"0", 3}, {"1", 1}}, true).front().second;
  CHECK(loss_of_class_0 == Approx(loss_with_both).epsilon(1e-5));
}

TEST_CASE("class weights weigh what is trained on, not what is validated on") {
  const Tensor x = data(20), y = labels(20, 2);
  auto loss_and_validation_loss = [&](const Value& class_weight) {
    auto model = small_model("softmax", 2);
    model->compile(
        {{"optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", 0.0}}}}},
         {"loss", "sparse_categorical_crossentropy"}});
    const auto history = model->fit(
        {x}, {y}, {{"validation_split", 0.5}, {"class_weight", class_weight}, {"verbose", 0}});
    return std::pair(history->at("loss").front(), history->at("val_loss").front());
  };
  const auto [loss, validation_loss] = loss_and_validation_loss({});
  const auto [weighted_loss, weighted_validation_loss] =
      loss_and_validation_loss(Dict{{"0", 10}, {"1", 10}});
  CHECK(weighted_loss == Approx(10 * loss).epsilon(1e-4));
  CHECK(weighted_validation_loss == validation_loss);
}

TEST_CASE("class weights multiply sample weights of any rank") {
  const Tensor x = data(6), y = labels(6, 2);
  auto model = small_model("softmax", 2);
  model->compile(
      {{"optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", 0.0}}}}},
       {"loss", "sparse_categorical_crossentropy"}});
  const Tensor own_weights = Tensor::from(std::vector<float>{1, 2, 0.5f, 3, 0, 4}, {6});
  const auto class_numbers = y.to_vector(), weights = own_weights.to_vector();
  std::vector<float> products;
  for (size_t i = 0; i < 6; ++i)
    products.push_back(static_cast<float>(weights[i] * (class_numbers[i] == 0 ? 5 : 7)));
  auto loss = [&](const Tensor& sample_weight, const Dict& class_weight) {
    return model->train_on_batch({x}, {y}, {sample_weight}, class_weight, true).front().second;
  };
  const Dict class_weights{{"0", 5}, {"1", 7}};
  const double want = loss(Tensor::from(products, {6}), {});
  CHECK(loss(own_weights, class_weights) == Approx(want));
  CHECK(loss(ops::reshape(own_weights, {6, 1}), class_weights) == Approx(want));
  auto fit_loss = [&](const Tensor& sample_weight) {
    return model
        ->fit({x}, {y},
              {{"sample_weight", boxed(sample_weight)},
               {"class_weight", class_weights},
               {"verbose", 0}})
        ->at("loss")
        .front();
  };
  model->compile(
      {{"optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", 0.0}}}}},
       {"loss", "categorical_crossentropy"}});
  const Tensor columns = ops::one_hot(ops::cast(y, DType::int32), 2, DType::float32);
  CHECK(model->train_on_batch({x}, {columns}, {own_weights}, class_weights, true).front().second ==
        Approx(want));
  model->compile(
      {{"optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", 0.0}}}}},
       {"loss", "sparse_categorical_crossentropy"}});
  CHECK(fit_loss(own_weights) == Approx(want));
  CHECK(fit_loss(ops::reshape(own_weights, {6, 1})) == Approx(want));
}

TEST_CASE("class weights name what they cannot read") {
  const Tensor x = data(6), y = labels(6, 2);
  auto model = small_model("softmax", 2);
  model->compile({{"optimizer", "sgd"}, {"loss", "sparse_categorical_crossentropy"}});
  auto fit_with = [&](const Tensor& targets, const Value& weights) {
    model->fit({x}, {targets}, {{"class_weight", weights}, {"verbose", 0}});
  };
  CHECK_NOTHROW(fit_with(y, List{1, 5}));
  static std::string warning_text;
  warning_text.clear();
  set_warning_handler([](std::string_view text) { warning_text += text; });
  fit_with(y, Dict{{"1", 5}});
  CHECK(warning_text.empty());
  CHECK_THROWS_WITH(fit_with(y, Dict{{"1", 1}, {"2", 5}}),
                    Contains("no class 2") && Contains("0 to 1") && Contains("write [0] ="));
  CHECK_THROWS_WITH(fit_with(y, Dict{{"7", 5}}), Contains("no class 7"));
  CHECK_THROWS_WITH(fit_with(y, Dict{{"-1", 5}}), Contains("no class -1"));
  CHECK_THROWS_WITH(fit_with(ops::one_hot(y, 2), List{1, 5, 1}), Contains("no class 2"));
  CHECK(warning_text.empty());
  auto regression_model = small_model();  // its loss mse does not use classes
  regression_model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  regression_model->fit({x}, {y}, {{"class_weight", Dict{{"1", 1}, {"2", 5}}}, {"verbose", 0}});
  CHECK_THAT(warning_text, Contains("no class 2") && Contains("write [0] ="));
  set_warning_handler(nullptr);
  CHECK_THROWS_WITH(fit_with(y, Dict{{"0.5", 1}, {"1", 5}}),
                    Contains("whole numbers from 0") && Contains("'0.5'"));
  CHECK_THROWS_WITH(fit_with(y, Dict{{"cat", 1}}), Contains("'cat'"));
  CHECK_THROWS_WITH(
      fit_with(Tensor::full({6}, std::numeric_limits<double>::quiet_NaN()), List{1, 5}),
      Contains("expected class labels as targets, got nan"));
  const Symbol in = Input({3}, "in");
  auto two_output_model = Functional::make({in}, {(*make<Layer>("Dense", {{"units", 1}}))(in),
                                                  (*make<Layer>("Dense", {{"units", 1}}))(in)});
  two_output_model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  CHECK_THROWS_WITH(
      two_output_model->fit({x}, {y, y},
                            {{"class_weight", List{Dict{{"0", 1}, {"1", 2}}}}, {"verbose", 0}}),
      Contains("one entry for each of 2 outputs, got 1"));
}
