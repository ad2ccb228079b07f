// compile, fit, evaluate and predict: semantics, order of calls and messages; eager and compiled
// steps must give the same numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "small_model.h"

using namespace crescent;
using namespace crescent::small;
using Catch::Contains;

TEST_CASE("eager and compiled steps give the same numbers") {
  const Tensor x = data(20), y = targets(x);
  std::vector<double> results[2];
  for (bool eager : {false, true}) {
    auto model = small_model();
    model->compile(
        {{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{"mae"}}, {"run_eagerly", eager}});
    auto history = model->fit({x}, {y},
                              {{"epochs", 3},
                               {"batch_size", 8},
                               {"verbose", 0},
                               {"shuffle", true},
                               {"validation_split", 0.2}});
    results[eager] = history->at("loss");
    for (const char* name : {"mae", "val_loss", "val_mae"})
      for (double v : history->at(name)) results[eager].push_back(v);
  }
  REQUIRE(results[0].size() == 12);
  for (size_t i = 0; i < results[0].size(); ++i)
    CHECK(results[0][i] == Approx(results[1][i]).epsilon(1e-5));
}

TEST_CASE("validation_split keeps the whole samples of its share for training, rounded down") {
  for (const auto& [samples, share, training_count] :
       {std::tuple<int64_t, double, int64_t>{7, 0.3, 4},
        {5, 0.25, 3},
        {10, 0.25, 7},
        {10, 0.5, 5},
        {3, 0.4, 1},
        {11, 0.1, 9},
        {8, 0.99, 0}}) {
    INFO(samples << " " << share);
    const Tensor x = data(samples), y = targets(x);
    auto model = small_model();
    model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
    const Dict options{{"batch_size", 1}, {"verbose", 0}, {"validation_split", share}};
    if (training_count == 0) {
      CHECK_THROWS_WITH(model->fit({x}, {y}, options), Contains("is not sufficient to split"));
      continue;
    }
    model->fit({x}, {y}, options);
    CHECK(model->optimizer()->iterations().value().item() == training_count);
  }
}

TEST_CASE("validation_split validates with the last samples and trains with those before") {
  const Tensor x = data(10), y = targets(x);
  auto model = small_model();
  model->compile(
      {{"optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", 0.0}}}}},
       {"loss", "mse"}});
  const auto loss = [&](int64_t begin, int64_t end) {
    return model
        ->evaluate({ops::slice_axis(x, 0, begin, end)}, {ops::slice_axis(y, 0, begin, end)},
                   {{"verbose", 0}})
        .front()
        .second;
  };
  auto history = model->fit({x}, {y}, {{"verbose", 0}, {"validation_split", 0.3}});
  CHECK(history->at("loss").front() == Approx(loss(0, 7)).epsilon(1e-5));
  CHECK(history->at("val_loss").front() == Approx(loss(7, 10)).epsilon(1e-5));
}

namespace {

/// A model whose training loss differs from its inference loss.
ModelPtr model_with_dropout() {
  std::vector<LayerPtr> layers{
      make<Layer>("Dense", {{"units", 8}, {"input_shape", List{3}}}),
      make<Layer>("BatchNormalization", {{"momentum", 1}}),
      make<Layer>("Dropout", {{"rate", 0.5}, {"seed", 1}}),
      make<Layer>("Dense", {{"units", 1}, {"kernel_regularizer", "l2"}}),
  };
  return Sequential::make(std::move(layers));
}

}  // namespace

TEST_CASE("inference_metrics: what inference sees of a batch before the update") {
  const Tensor x = data(16), y = targets(x);
  for (bool eager : {false, true}) {
    Tensor trained_weights[2];
    for (bool is_single_batch : {false, true}) {
      set_random_seed(7);
      auto model = model_with_dropout();
      model->compile({{"optimizer", "sgd"},
                      {"loss", "mse"},
                      {"metrics", List{"mae"}},
                      {"run_eagerly", eager}});
      const NamedValues metrics_before = model->evaluate({x}, {y}, {{"verbose", 0}});
      auto history = model->fit(
          {x}, {y}, {{"batch_size", 16}, {"verbose", 0}, {"inference_metrics", is_single_batch}});
      for (const auto& [name, value] : metrics_before)
        CHECK((history->at(name)[0] == Approx(value).epsilon(1e-5)) == is_single_batch);
      trained_weights[is_single_batch] = model->weights().front().value();
    }
    CHECK(trained_weights[0].to_vector() == trained_weights[1].to_vector());
  }
  auto stateful_model = Sequential::make({make<Layer>(
      "LSTM", {{"units", 1}, {"stateful", true}, {"batch_input_shape", List{4, 2, 3}}})});
  stateful_model->compile({{"loss", "mse"}});
  CHECK_THROWS_WITH(stateful_model->fit({ops::zeros({4, 2, 3})}, {ops::zeros({4, 1})},
                                        {{"batch_size", 4}, {"inference_metrics", true}}),
                    Contains("stateful"));
}

TEST_CASE("training learns, evaluate agrees with the last validation") {
  const Tensor x = data(256), y = targets(x);
  auto model = small_model();
  model->compile(
      {{"optimizer", Dict{{"class_name", "Adam"}, {"config", Dict{{"learning_rate", 0.02}}}}},
       {"loss", "mse"}});
  auto history = model->fit(
      {x}, {y}, {{"epochs", 30}, {"verbose", 0}, {"validation_data", List{boxed(x), boxed(y)}}});
  CHECK(history->at("loss").back() < 0.2 * history->at("loss").front());
  CHECK(model->evaluate({x}, {y}, {{"verbose", 0}}).front().second ==
        Approx(history->at("val_loss").back()).epsilon(1e-5));
  CHECK(model->epochs_trained() == 30);
  CHECK(model->predict({x}).front().shape() == Shape{256, 1});
}

TEST_CASE("accuracy fits the loss, names are as typed, the loss comes first") {
  auto model = small_model("softmax", 4);
  model->compile({{"loss", "sparse_categorical_crossentropy"}, {"metrics", List{"acc", "mse"}}});
  CHECK(model->metrics_names() == std::vector<std::string>{"loss", "acc", "mse"});
  CHECK(model->all_metrics()[1]->class_name() == "SparseCategoricalAccuracy");
  auto binary_model = small_model("sigmoid");
  binary_model->compile({{"loss", "binary_crossentropy"}, {"metrics", List{"accuracy"}}});
  CHECK(binary_model->all_metrics()[1]->class_name() == "BinaryAccuracy");
  model->compile({{"loss", "binary_crossentropy"}, {"metrics", List{"accuracy"}}});
  CHECK(model->all_metrics()[1]->class_name() == "FittingAccuracy");
  const Tensor x = data(10);
  const NamedValues values = binary_model->evaluate({x}, {labels(10, 2)}, {{"verbose", 0}});
  REQUIRE(values.size() == 2);
  CHECK(values[0].first == "loss");
  CHECK(values[1].first == "accuracy");
  model->compile({{"loss", "sparse_categorical_crossentropy"}, {"metrics", List{"accuracy"}}});
  CHECK_NOTHROW(model->fit({x}, {labels(10, 4)}, {{"verbose", 0}}));
}

TEST_CASE("weighted metrics have a name of their own where it is taken") {
  auto model = small_model("softmax", 4);
  model->compile({{"loss", "sparse_categorical_crossentropy"},
                  {"metrics", List{"accuracy", "accuracy"}},
                  {"weighted_metrics", List{"accuracy", "mse", "accuracy"}}});
  CHECK(model->metrics_names() == std::vector<std::string>{"loss", "accuracy", "accuracy_1",
                                                           "weighted_accuracy", "mse",
                                                           "weighted_accuracy_1"});
}

TEST_CASE("a list with an entry for each output goes by output") {
  const Symbol in = Input({3}, "in");
  const Symbol a = (*make<Layer>("Dense", {{"units", 1}, {"name", "a"}}))(in),
               b = (*make<Layer>("Dense", {{"units", 1}, {"name", "b"}}))(in);
  auto model = Functional::make({in}, {a, b});
  const auto metric_names = [&](const Value& loss, const Value& metrics) {
    model->compile({{"loss", loss}, {"metrics", metrics}, {"weighted_metrics", metrics}});
    const std::vector<std::string> all_names = model->metrics_names();
    return join(all_names, " ");
  };
  CHECK(metric_names("mse", List{"mae", "mse"}) ==
        "loss a_loss b_loss a_mae b_mse a_weighted_mae b_weighted_mse");
  CHECK(metric_names("mse", List{"mae"}) ==
        "loss a_loss b_loss a_mae b_mae a_weighted_mae b_weighted_mae");
  CHECK(metric_names(List{"mse", false}, List{false, "mae"}) == "loss b_mae b_weighted_mae");
}

TEST_CASE("several outputs: losses, weights, metrics by name") {
  const Symbol in = Input({3}, "in");
  const Symbol a = (*make<Layer>("Dense", {{"units", 1}, {"name", "a"}}))(in),
               b = (*make<Layer>("Dense", {{"units", 1}, {"name", "b"}}))(in);
  auto model = Functional::make({in}, {a, b});
  model->compile({{"loss", Dict{{"a", "mse"}, {"b", "mae"}}},
                  {"loss_weights", Dict{{"b", 0.5}}},
                  {"metrics", Dict{{"a", "mae"}}}});
  CHECK(model->metrics_names() == std::vector<std::string>{"loss", "a_loss", "b_loss", "a_mae"});
  const Tensor x = data(7), y = targets(x);
  const NamedValues values = model->evaluate({x}, {y, y}, {{"verbose", 0}});
  CHECK(values[0].second == Approx(values[1].second + 0.5 * values[2].second));
  CHECK_THROWS_WITH(
      model->compile({{"loss", Dict{{"c", "mse"}}}}),
      "Unknown entries in loss dictionary: ['c']. Only expected following keys: ['a', 'b']");
  CHECK_THROWS_WITH(
      model->compile({{"loss", List{"mse"}}}),
      Contains("it should have one entry per model outputs. The model has 2 outputs"));
  CHECK_THROWS_WITH(model->fit({x}, {y}, {{"verbose", 0}}),
                    Contains("Expected to see 2 array(s), but instead got 1"));
}

TEST_CASE("mistakes are answered in Keras' words") {
  const Tensor x = data(4), y = targets(x);
  auto model = small_model();
  CHECK_THROWS_WITH(model->fit({x}, {y}), "You must compile your model before using it.");
  CHECK_THROWS_WITH(model->compile({{"optimizer", "adm"}, {"loss", "mse"}}),
                    Contains("'adm'") && Contains("did you mean 'adam'?"));
  CHECK_THROWS_WITH(model->compile({{"optimizr", "adam"}}), Contains("did you mean 'optimizer'?"));
  CHECK_THROWS_WITH(model->compile({{"loss", "mes"}}), Contains("'mes'"));
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  CHECK_THROWS_WITH(model->fit({x}, {data(5)}),
                    "Input arrays should have the same number of samples as target arrays. Found 4 "
                    "input samples and 5 target samples.");
  CHECK_THROWS_WITH(model->fit({x}, {y}, {{"epoch", 3}}),
                    Contains("'epoch'") && Contains("did you mean 'epochs'?"));
  CHECK_THROWS_WITH(model->fit({x}, {data(4, 2)}, {{"verbose", 0}}),
                    Contains("This loss expects targets to have the same shape as the output."));
  CHECK_THROWS_WITH(model->fit({x}, {y}, {{"validation_split", 0.9}, {"verbose", 0}}),
                    Contains("not sufficient to split it"));
  CHECK_THROWS_WITH(model->fit({x}, {y}, {{"validation_data", List{boxed(x)}}}),
                    Contains("however it contains 1 items"));
  CHECK_THROWS_WITH(model->fit({x}, {y}, {{"sample_weight", boxed(data(3))}}),
                    Contains("expected one weight a sample, 4 in all"));
  CHECK_THROWS_WITH(model->fit({Tensor({0, 3}, DType::float32)}, {Tensor({0, 1}, DType::float32)}),
                    Contains("at least one sample"));
  CHECK_THROWS_WITH(
      model->fit(
          {x}, {y},
          {{"validation_freq", 0}, {"validation_data", List{boxed(x), boxed(y)}}, {"verbose", 0}}),
      Contains("`validation_freq` can not be less than 1."));
}

TEST_CASE(
    "targets may lack the last axis; batches may be larger than the data; NaN does not crash") {
  const Tensor x = data(5), y = targets(x);
  auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  CHECK_NOTHROW(model->fit({x}, {ops::squeeze(y)}, {{"batch_size", 100}, {"verbose", 0}}));
  auto history = model->fit({x * std::numeric_limits<double>::quiet_NaN()}, {y}, {{"verbose", 0}});
  CHECK(std::isnan(history->at("loss").front()));
}

TEST_CASE("callbacks are called in Keras' order and can stop a run") {
  const Tensor x = data(8), y = targets(x);
  auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}, {"metrics", List{"mae"}}});
  auto recorder = std::make_shared<Recorder>();
  Dict options{{"batch_size", 4},
               {"verbose", 0},
               {"callbacks", recorder},
               {"validation_data", List{boxed(x), boxed(y)}}};
  model->fit({x}, {y}, options);
  CHECK(recorder->text ==
        "train_begin epoch_begin batch batch test_begin test_end epoch_end train_end");
  CHECK(recorder->names == std::vector<std::string>{"loss", "mae", "val_loss", "val_mae"});
  recorder->text.clear();
  recorder->stop_after = 0;
  model->fit({x}, {y}, options);
  CHECK(recorder->text == "train_begin epoch_begin batch test_begin test_end epoch_end train_end");
  auto history = model->fit({x}, {y}, {{"initial_epoch", 2}, {"epochs", 4}, {"verbose", 0}});
  CHECK(history->epoch() == std::vector<int64_t>{2, 3});
}

TEST_CASE("on_batch_begin and on_batch_end are the older names of the hooks of training batches") {
  class OldHooksCallback final : public Callback {
   public:
    void on_batch_begin(int64_t batch, const Logs&) override { begun_batches.push_back(batch); }
    void on_batch_end(int64_t batch, const Logs& logs) override {
      ended_batches.push_back(batch);
      CHECK(logs.contains("loss"));
    }
    std::vector<int64_t> begun_batches, ended_batches;
  };
  auto model = small_model();
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  auto old_hooks_callback = std::make_shared<OldHooksCallback>();
  const Tensor x = data(8), y = targets(x);
  const Dict options{{"batch_size", 4}, {"verbose", 0}, {"callbacks", old_hooks_callback}};
  model->fit({x}, {y}, options);
  CHECK((old_hooks_callback->begun_batches == std::vector<int64_t>{0, 1} &&
         old_hooks_callback->ended_batches == old_hooks_callback->begun_batches));
  model->evaluate({x}, {y}, options);
  CHECK(old_hooks_callback->ended_batches.size() == 2);
}

TEST_CASE("a callback can look at its model after the run, and learns when it is gone") {
  class LogsCallback final : public Callback {
   public:
    void on_epoch_end(int64_t, Logs& logs) override { copied_logs = logs; }
    void on_train_batch_end(int64_t, const Logs& logs) override { lazy_logs = logs; }
    const ModelRef& model() const { return model_; }
    Logs copied_logs, lazy_logs;
  };
  auto logs_callback = std::make_shared<LogsCallback>();
  {
    auto model = small_model();
    model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
    const Tensor x = data(8);
    model->fit({x}, {targets(x)}, {{"verbose", 0}, {"callbacks", logs_callback}});
    CHECK(logs_callback->model()->compiled());
    CHECK(logs_callback->model().lock() == model);
  }
  CHECK_FALSE(logs_callback->model());
  CHECK(logs_callback->model().lock() == nullptr);
  CHECK_THROWS_WITH(logs_callback->model()->compiled(),
                    Contains("the model of this callback is gone"));
  // The callback stored a copy of the logs, whose numbers stay available after the run.
  CHECK(std::isfinite(logs_callback->lazy_logs.at("loss")));
  CHECK(logs_callback->copied_logs.at("loss") == logs_callback->lazy_logs.at("loss"));
}

TEST_CASE("a batch has its own numbers, whatever was computed before") {
  const Tensor x = data(32), y = targets(x);
  auto model = small_model();
  model->compile(
      {{"optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", 0.0}}}}},
       {"loss", "mse"},
       {"metrics", List{"mae"}}});
  const Tensor x1 = x.view_rows(0, 4), y1 = y.view_rows(0, 4), x2 = x.view_rows(4, 4),
               y2 = y.view_rows(4, 4);
  const NamedValues first = model->test_on_batch({x1}, {y1}),
                    second = model->test_on_batch({x2}, {y2});
  CHECK(first != second);
  model->evaluate({x}, {y}, {{"verbose", 0}});
  CHECK(model->train_on_batch({x1}, {y1}) == first);
  CHECK(model->train_on_batch({x2}, {y2}) == second);
  model->fit({x}, {y}, {{"verbose", 0}});
  CHECK(model->test_on_batch({x1}, {y1}) == first);
  const NamedValues both_batches = model->train_on_batch({x2}, {y2}, {}, {}, false);
  CHECK(both_batches.front().second ==
        Approx((first.front().second + second.front().second) / 2).epsilon(1e-5));
}

namespace {

/// A subclassed model with a residual connection.
class ResidualModel final : public Model {
 public:
  ResidualModel()
      : inner_(make<Layer>("Dense", {{"units", 3}, {"name", "inner"}})),
        last_(make<Layer>("Dense", {{"units", 1}})) {
    track(inner_);
    track(last_);
  }
  Tensors call(const Tensors& inputs, const Call& call) override {
    const Tensor sum = inputs.front() + (*inner_)(inputs.front());
    if (call.training) add_metric(ops::mean(sum), "mean_sum");
    return {(*last_)(sum)};
  }

 private:
  LayerPtr inner_, last_;
};

}  // namespace

TEST_CASE("a subclassed model trains, predicts and has no configuration of its own") {
  const Tensor x = data(16), y = targets(x);
  auto model = std::make_shared<ResidualModel>();
  model->compile({{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{"mae"}}});
  CHECK(model->metrics_names() == std::vector<std::string>{"loss"});
  auto history = model->fit({x}, {y}, {{"epochs", 2}, {"verbose", 0}});
  CHECK(model->metrics_names() == std::vector<std::string>{"loss", "mae", "mean_sum"});
  CHECK(history->at("mean_sum").size() == 2);
  CHECK(model->predict({x}).front().shape() == Shape{16, 1});
  CHECK(model->count_params() == 12 + 4);
  CHECK(model->get_layer("inner") == model->layers().front());
  CHECK_THROWS_WITH(model->inputs(), Contains("is not made of symbols"));
  CHECK(model->name().starts_with("residual_"));
}

TEST_CASE("mixed precision trains float32 weights") {
  set_random_seed(3);
  auto layer = [](Dict options) {
    options.set("dtype", "mixed_bfloat16");
    return make<Layer>("Dense", options);
  };
  auto model = Sequential::make(
      {layer({{"units", 16}, {"activation", "relu"}, {"input_shape", List{3}}}),
       make<Layer>("BatchNormalization", {{"dtype", "mixed_bfloat16"}}), layer({{"units", 1}})});
  model->compile({{"optimizer", "adam"}, {"loss", "mse"}, {"metrics", List{"mae"}}});
  const Tensor x = data(256), y = targets(x);
  auto history = model->fit({x}, {y}, {{"epochs", 20}, {"verbose", 0}});
  CHECK(history->at("loss").back() < 0.5 * history->at("loss").front());
  for (const Variable& v : model->weights()) CHECK(v.dtype() == DType::float32);
  CHECK(model->predict({x}).front().dtype() == DType::bfloat16);
}

TEST_CASE("masks reach the loss through a model") {
  auto model =
      Sequential::make({make<Layer>("Masking", {{"input_shape", List{3, 2}}}),
                        make<Layer>("Dense", {{"units", 1}, {"kernel_initializer", "ones"}})});
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  std::vector<float> values{1, 1, 0, 0, 0, 0, 2, 2, 2, 2, 0, 0};
  const Tensor x = Tensor::from(values, {2, 3, 2}), y({2, 3, 1}, DType::float32);
  const auto loss = [&](const Dict& options) {
    Dict quiet_options = options;
    quiet_options.set("verbose", 0);
    return model->evaluate({x}, {y}, quiet_options).front().second;
  };
  const Value samples = boxed(Tensor::from(std::vector<float>{1, 3}, {2})),
              steps = boxed(Tensor::from(std::vector<float>{1, 1, 2, 3, 5, 1}, {2, 3}));
  CHECK(loss({}) == Approx((4.0 + 16 + 16) / 3).epsilon(1e-5));
  CHECK(loss({{"sample_weight", samples}}) == Approx((4.0 + 48 + 48) / 3).epsilon(1e-5));
  model->compile({{"optimizer", "sgd"}, {"loss", "mse"}, {"mask_as_weights", true}});
  CHECK(loss({}) == Approx((4.0 + 16 + 16) / 6).epsilon(1e-5));
  CHECK(loss({{"sample_weight", samples}}) == Approx((4.0 + 48 + 48) / 6).epsilon(1e-5));
  CHECK(loss({{"sample_weight", steps}}) == Approx((4.0 + 48 + 80) / 6).epsilon(1e-5));
}

TEST_CASE("predictions follow the weights, whoever changes them") {
  set_random_seed(3);
  auto make_model = [] {
    return Sequential::make(
        {make<Layer>("Conv2D",
                     {{"filters", 4}, {"kernel_size", 3}, {"input_shape", List{6, 6, 2}}}),
         make<Layer>("BatchNormalization"),
         make<Layer>("Conv2D", {{"filters", 16}, {"kernel_size", 3}, {"padding", "same"}}),
         make<Layer>("BatchNormalization"),
         make<Layer>("Conv2D", {{"filters", 16}, {"kernel_size", 3}, {"padding", "same"}}),
         make<Layer>("Flatten"), make<Layer>("Dense", {{"units", 40}, {"activation", "relu"}}),
         make<Layer>("Dense", {{"units", 1}})});
  };
  auto model = make_model(), other_model = make_model();
  model->compile({{"optimizer", "adam"}, {"loss", "mse"}});
  const Tensor x = SeedGenerator(5).normal({16, 6, 6, 2}), y = data(16, 1);
  auto has_right_outputs = [&](Model& m) {
    CallOptions inference;
    inference.training = false;
    const auto called = m(x, inference).to_vector(),
               predicted = m.predict_on_batch({x}).front().to_vector();
    return std::equal(called.begin(), called.end(), predicted.begin(),
                      [](double a, double b) { return std::abs(a - b) < 1e-4; });
  };
  CHECK((has_right_outputs(*model) && has_right_outputs(*other_model)));
  for (int i = 0; i < 3; ++i) {
    model->train_on_batch({x}, {y});
    CHECK(has_right_outputs(*model));
  }
  model->fit({x}, {y}, {{"epochs", 2}, {"verbose", 0}, {"validation_split", 0.25}});
  CHECK(has_right_outputs(*model));
  const Tensors weights = model->get_weights();
  model->fit({x}, {y}, {{"epochs", 2}, {"verbose", 0}});
  CHECK(has_right_outputs(*model));
  // Both models share the memory of the weights until one of them is trained.
  other_model->set_weights(model->get_weights());
  CHECK(has_right_outputs(*other_model));
  model->train_on_batch({x}, {y});
  CHECK((has_right_outputs(*model) && has_right_outputs(*other_model)));
  save_weights(*model, "follow.weights.h5");
  model->set_weights(weights);
  CHECK(has_right_outputs(*model));
  load_weights(*other_model, "follow.weights.h5");
  CHECK(has_right_outputs(*other_model));
  load_weights(*model, "follow.weights.h5");
  CHECK(has_right_outputs(*model));
  std::remove("follow.weights.h5");
}
