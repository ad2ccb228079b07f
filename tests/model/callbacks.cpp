// The built-in callbacks, run by fit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "crescent/crescent.h"

using namespace crescent;

namespace {

std::shared_ptr<Sequential> model_with(double rate) {
  set_random_seed(4);
  auto model = Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{2}}})});
  model->compile(
      {{"optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", rate}}}}},
       {"loss", "mse"}});
  return model;
}
const Tensor& x() {
  static const Tensor data = SeedGenerator(1).normal({32, 2});
  return data;
}
Tensor y() { return ops::sum(x(), {1}, true); }

std::shared_ptr<History> fit(Model& model, Value callbacks, int64_t epochs,
                             Dict more_options = {}) {
  more_options.set("callbacks", std::move(callbacks));
  more_options.set("epochs", epochs);
  more_options.set("verbose", 0);
  return model.fit({x()}, {y()}, more_options);
}

}  // namespace

TEST_CASE("early stopping ends a run and takes back the best weights") {
  auto model = model_with(2.5);  // this run diverges, so its first epoch is the best
  auto early_stopping = make<Callback>(
      "EarlyStopping", {{"monitor", "loss"}, {"patience", 2}, {"restore_best_weights", true}});
  auto history = fit(*model, early_stopping, 20, {{"batch_size", 32}, {"shuffle", false}});
  CHECK(history->epoch().size() < 20);
  const std::vector<double>& losses = history->at("loss");
  const double best = *std::min_element(losses.begin(), losses.end());
  CHECK(losses.front() == best);
  auto second_model = model_with(2.5);
  fit(*second_model, Value(), 1, {{"batch_size", 32}, {"shuffle", false}});
  CHECK(model->get_weights().front().to_vector() ==
        second_model->get_weights().front().to_vector());
}

TEST_CASE("a run of NaN is ended") {
  auto model = model_with(1e30);
  auto history = fit(*model, make<Callback>("TerminateOnNaN"), 5, {{"batch_size", 4}});
  CHECK(history->epoch().size() == 1);
}

TEST_CASE("the rate falls on a plateau and is part of the logs") {
  auto model = model_with(2.5);
  auto reduce_on_plateau =
      make<Callback>("ReduceLROnPlateau", {{"monitor", "loss"}, {"patience", 1}, {"factor", 0.5}});
  auto history = fit(*model, reduce_on_plateau, 5, {{"batch_size", 32}});
  CHECK(model->optimizer()->learning_rate().value().item() < 2.5);
  CHECK(history->history().size() >= 1);
}

TEST_CASE("checkpoints are models that load") {
  auto model = model_with(0.05);
  const std::string path = "model_test_checkpoint.h5";
  fit(*model,
      make<Callback>("ModelCheckpoint",
                     {{"filepath", path}, {"monitor", "loss"}, {"save_best_only", true}}),
      2);
  auto loaded_model = load_model(path);
  CHECK(loaded_model->predict({x()}).front().to_vector() ==
        model->predict({x()}).front().to_vector());
  std::remove(path.c_str());
  // The logs of a batch do not have this value, so nothing can be compared, and every checkpoint is
  // saved.
  set_warning_handler([](std::string_view) {});
  const Dict unknown_monitor{{"filepath", path}, {"save_best_only", true}, {"save_freq", 1}};
  fit(*model, make<Callback>("ModelCheckpoint", unknown_monitor), 1);
  set_warning_handler(nullptr);
  CHECK(load_model(path)->epochs_trained() == 2);
  std::remove(path.c_str());
}

namespace {

constexpr const char* kPath = "model_test_callbacks.h5";

/// Removes the file kPath before and after a test.
struct CheckpointFile {
  CheckpointFile() { std::remove(kPath); }
  ~CheckpointFile() { std::remove(kPath); }
};

Value checkpoint(Dict options = {}) {
  options.set("filepath", kPath);
  return make<Callback>("ModelCheckpoint", options);
}

/// Sets a value in the logs of each epoch, in the order of `values`.
class ScriptedLogs final : public Callback {
 public:
  explicit ScriptedLogs(std::vector<double> values, std::string name = "score")
      : values_(std::move(values)), name_(std::move(name)) {}
  void on_epoch_end(int64_t, Logs& logs) override { logs.set(name_, values_.at(next_value_++)); }

 private:
  std::vector<double> values_;
  std::string name_;
  size_t next_value_ = 0;
};
Value scripted_logs(std::vector<double> values) {
  return std::make_shared<ScriptedLogs>(std::move(values));
}

/// Changes the weights at the end of an epoch, after the epoch's loss was computed.
class WeightChanger final : public Callback {
 public:
  explicit WeightChanger(double value, int64_t epoch) : value_(value), epoch_(epoch) {}
  void on_epoch_end(int64_t epoch, Logs&) override {
    if (epoch == epoch_)
      model_->weights().front().assign(Tensor::full(model_->weights().front().shape(), value_));
  }

 private:
  double value_;
  int64_t epoch_;
};

const double kNaN = std::numeric_limits<double>::quiet_NaN(),
             kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a checkpoint knows the epoch that it was written in") {
  const CheckpointFile file;
  auto model = model_with(0.05);
  fit(*model, checkpoint(), 4);
  CHECK(load_model(kPath)->epochs_trained() == 4);
}

TEST_CASE("weights that are not finite, or a watched value that is not, leave the best checkpoint",
          "[S10]") {
  const CheckpointFile file;
  for (double bad_value : {kNaN, kInfinity, -kInfinity}) {
    auto model = model_with(0.0);
    const Value best = checkpoint(
        {{"monitor", "score"}, {"save_best_only", true}, {"mode", "min"}, {"verbose", 1}});
    fit(*model,
        List{scripted_logs({bad_value, 3, 2, 1}), std::make_shared<WeightChanger>(bad_value, 2),
             best},
        3);
    auto loaded_model = load_model(kPath);
    CHECK(loaded_model->epochs_trained() == 2);
    CHECK(std::isfinite(loaded_model->predict({x()}).front().to_vector().front()));
    fit(*model, List{scripted_logs({bad_value, bad_value}), best}, 2);
    CHECK(load_model(kPath)->epochs_trained() == 2);
    fit(*model_with(0.0), List{scripted_logs({3.5}), best}, 1);
    CHECK(load_model(kPath)->epochs_trained() == 2);
    fit(*model_with(0.0), List{scripted_logs({2.5}), best},
        1);  // the checkpoint with the value 2 was not saved, so 2 is not the best value
    CHECK(load_model(kPath)->epochs_trained() == 1);
  }
  auto model = model_with(0.0);
  fit(*model, List{std::make_shared<WeightChanger>(kNaN, 1), checkpoint()}, 2);
  CHECK(load_model(kPath)->epochs_trained() == 1);
}

TEST_CASE("early stopping goes on where the saved run was") {
  const CheckpointFile file;
  const std::vector<double> scores{5, 1, 3, 3, 3, 3, 3, 3, 3};
  auto stop = [] {
    return Value(
        make<Callback>("EarlyStopping", {{"monitor", "score"}, {"patience", 4}, {"mode", "min"}}));
  };
  auto uninterrupted_model = model_with(0.05);
  const auto epochs = fit(*uninterrupted_model, List{scripted_logs(scores), stop()}, 9)->epoch();
  REQUIRE(epochs.size() == 6);
  for (bool stops_first : {true, false}) {
    auto interrupted_model = model_with(0.05);
    fit(*interrupted_model,
        stops_first ? List{scripted_logs(scores), stop(), checkpoint()}
                    : List{checkpoint(), scripted_logs(scores), stop()},
        3);
    auto resumed_model = load_model(kPath);
    auto history = fit(*resumed_model, List{scripted_logs({3, 3, 3, 3, 3, 3}), stop()}, 9,
                       {{"initial_epoch", 3}});
    CHECK(history->epoch() == std::vector<int64_t>{3, 4, 5});
    CHECK(resumed_model->get_weights().front().to_vector() ==
          uninterrupted_model->get_weights().front().to_vector());
    CHECK(fit(*resumed_model, List{scripted_logs({3, 3, 3, 3, 3, 3, 3, 3, 3}), stop()}, 9)
              ->epoch()
              .size() == 5);  // a new run forgets the values of earlier runs
  }
}

TEST_CASE("early stopping waits for the baseline, and never stops where the value improves") {
  const auto epochs = [](std::vector<double> scores, Dict options) {
    options.set("monitor", "score");
    options.set("mode", "min");
    auto model = model_with(0.05);
    const auto count = static_cast<int64_t>(scores.size());
    return fit(*model,
               List{scripted_logs(std::move(scores)), make<Callback>("EarlyStopping", options)},
               count)
        ->epoch()
        .size();
  };
  CHECK(epochs({5, 4, 3, 4, 3}, {{"patience", 0}}) == 4);
  CHECK(epochs({5, 4, 3, 2, 1}, {{"patience", 0}}) == 5);
  CHECK(epochs({5, 4, 3.5, 3.2, 1}, {{"patience", 0}, {"min_delta", -0.4}}) == 4);
  CHECK(epochs({5, 4, 3, 4, 3}, {{"patience", 2}, {"baseline", 1}}) == 4);
  CHECK(epochs({5, 0.5, 3, 4, 3}, {{"patience", 2}, {"baseline", 1}}) == 4);
}

TEST_CASE("every metric says which way is better, as in Keras") {
  const std::set<std::string> increasing_metrics{"Accuracy",
                                                 "BinaryAccuracy",
                                                 "CategoricalAccuracy",
                                                 "SparseCategoricalAccuracy",
                                                 "FittingAccuracy",
                                                 "TopKCategoricalAccuracy",
                                                 "SparseTopKCategoricalAccuracy",
                                                 "AUC",
                                                 "Precision",
                                                 "Recall",
                                                 "SensitivityAtSpecificity",
                                                 "SpecificityAtSensitivity",
                                                 "PrecisionAtRecall",
                                                 "RecallAtPrecision",
                                                 "F1Score",
                                                 "FBetaScore",
                                                 "IoU",
                                                 "BinaryIoU",
                                                 "MeanIoU",
                                                 "OneHotIoU",
                                                 "OneHotMeanIoU",
                                                 "CosineSimilarity",
                                                 "R2Score",
                                                 "PearsonCorrelation",
                                                 "ConcordanceCorrelation"},
      neither{"Mean", "Sum", "TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives"};
  const Dict required_options{{"num_classes", 2},   {"target_class_ids", List{0}},
                              {"fn", "mse"},        {"specificity", 0.5},
                              {"sensitivity", 0.5}, {"recall", 0.5},
                              {"precision", 0.5},   {"beta", 1.0}};
  for (const std::string& name : registry().names("metric")) {
    const auto info = registry().get("metric", name);
    if (!info->origin.ends_with("metrics.so")) continue;
    Dict options;
    for (const Field& field : info->schema.fields)
      if (field.required) options.set(field.name, required_options.at(field.name));
    CAPTURE(name);
    CHECK(make<Metric>(name, options)->direction() == (increasing_metrics.contains(name)
                                                           ? Direction::up
                                                       : neither.contains(name) ? Direction::unknown
                                                                                : Direction::down));
  }
}

TEST_CASE("mode auto asks the metric that is watched, whatever it is called") {
  const auto epoch_count_with = [](const Value& metric, const std::string& name,
                                   const char* callback) {
    auto model = model_with(0.05);
    model->compile({{"optimizer", "sgd"}, {"loss", "mse"}, {"metrics", List{metric}}});
    const Value scores = std::make_shared<ScriptedLogs>(std::vector<double>{1, 2, 3, 4}, name);
    auto watching_callback = make<Callback>(callback, {{"monitor", name}, {"patience", 1}});
    return fit(*model, List{scores, watching_callback}, 4)->epoch().size();
  };
  const Value score = make<Metric>("R2Score", {{"name", "small_loss"}}),
              error = make<Metric>("MeanAbsoluteError", {{"name", "accuracy"}}),
              mean = make<Metric>("Mean", {{"name", "recall"}});
  CHECK(epoch_count_with(score, "small_loss", "EarlyStopping") == 4);
  CHECK(epoch_count_with(score, "val_small_loss", "EarlyStopping") == 4);
  CHECK(epoch_count_with(error, "accuracy", "EarlyStopping") == 2);
  CHECK(epoch_count_with("acc", "val_acc", "EarlyStopping") == 4);
  CHECK(epoch_count_with("mae", "val_loss", "EarlyStopping") == 2);
  for (const char* callback : {"EarlyStopping", "ReduceLROnPlateau"}) {
    CHECK_THROWS_WITH(epoch_count_with(mean, "recall", callback),
                      Catch::Contains(callback) && Catch::Contains("mode = \"max\""));
    CHECK_THROWS_WITH(epoch_count_with("mae", "accuracy", callback),
                      Catch::Contains("loss, val_loss, mae"));
    CHECK_THROWS_WITH(epoch_count_with("mae", "val_mea", callback),
                      Catch::Contains("did you mean 'val_mae'"));
  }
}

TEST_CASE("losses of several outputs get better by falling") {
  InputOptions options;
  options.shape = Shape{2};
  const Symbol input = Input(options);
  const auto dense = [&](const char* name) {
    return (*make<Layer>("Dense", {{"units", 1}, {"name", name}}))(input);
  };
  auto model = Functional::make({input}, {dense("a"), dense("b")});
  model->compile({{"loss", "mse"}, {"metrics", Dict{{"b", "acc"}}}});
  CHECK(model->direction_of("val_a_loss") == Direction::down);
  CHECK(model->direction_of("b_acc") == Direction::up);
  CHECK(model->direction_of("acc") == Direction::unknown);
  CHECK(model->direction_of("learning_rate") == Direction::unknown);
}

TEST_CASE("the weights of the best epoch survive saving") {
  const CheckpointFile file;
  auto stop = [] {
    return Value(make<Callback>(
        "EarlyStopping",
        {{"monitor", "score"}, {"patience", 3}, {"mode", "min"}, {"restore_best_weights", true}}));
  };
  auto interrupted_model = model_with(0.05);
  fit(*interrupted_model, List{scripted_logs({1}), stop()}, 1);
  const auto best = interrupted_model->get_weights().front().to_vector();
  fit(*interrupted_model, List{scripted_logs({1, 2}), stop(), checkpoint()}, 2);
  auto resumed_model = load_model(kPath);
  CHECK(resumed_model->get_weights().front().to_vector() != best);
  auto fresh_model = model_with(0.05);
  fit(*fresh_model, Value(), 1);
  fit(*fresh_model, Value(), 1);
  const auto second_weights = fresh_model->get_weights().front().to_vector();
  CHECK(fit(*resumed_model, List{scripted_logs({2, 2, 2, 2}), stop()}, 4)->epoch().size() == 2);
  CHECK(resumed_model->get_weights().front().to_vector() == second_weights);
}

TEST_CASE("plateaus and best values survive saving; a run that was ended leaves nothing") {
  const CheckpointFile file;
  auto plateau = [] {
    return Value(
        make<Callback>("ReduceLROnPlateau",
                       {{"monitor", "score"}, {"patience", 2}, {"factor", 0.5}, {"mode", "min"}}));
  };
  auto model = model_with(0.5);
  fit(*model, List{scripted_logs({1, 2}), plateau()}, 2);
  save_model(*model, kPath);
  auto loaded_model = load_model(kPath);
  fit(*loaded_model, List{scripted_logs({2}), plateau()}, 1);
  CHECK(loaded_model->optimizer()->learning_rate().value().item() == Approx(0.25));

  const Dict best{{"monitor", "score"}, {"save_best_only", true}, {"mode", "min"}};
  fit(*model, List{scripted_logs({1, 2}), checkpoint(best)}, 2);
  loaded_model = load_model(kPath);
  const int64_t epochs = loaded_model->epochs_trained();
  fit(*loaded_model, List{scripted_logs({1.5}), checkpoint(best)}, 1);
  CHECK(load_model(kPath)->epochs_trained() == epochs);
  fit(*loaded_model, List{scripted_logs({0.5}), checkpoint(best)}, 1);
  CHECK(load_model(kPath)->epochs_trained() == epochs + 2);

  auto ended_model = model_with(0.5);
  fit(*ended_model,
      List{scripted_logs({1, 2}),
           Value(make<Callback>("EarlyStopping",
                                {{"monitor", "score"}, {"patience", 1}, {"mode", "min"}}))},
      5);
  CHECK(ended_model->run_state().is_null());
  CHECK_THROWS_WITH(ended_model->set_run_state(Dict{{"callbacks", List{Dict{{"class_name", 3}}}}}),
                    Catch::Contains("expected a list of {class_name, config, state}"));
}

TEST_CASE("a saved model goes on bit for bit") {
  auto model = model_with(0.05);
  fit(*model, Value(), 2, {{"batch_size", 5}});
  const std::string path = "model_test_resumed.h5";
  save_model(*model, path);
  auto loaded_model = load_model(path);
  std::remove(path.c_str());
  CHECK(loaded_model->epochs_trained() == 2);
  const auto a = fit(*model, Value(), 2, {{"batch_size", 5}})->at("loss"),
             b = fit(*loaded_model, Value(), 2, {{"batch_size", 5}})->at("loss");
  CHECK(a == b);
}
