// Callbacks of the built-in plugin as fit runs them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>

#include "crescent/crescent.h"

using namespace crescent;

namespace {

std::shared_ptr<Sequential> model_with(double rate) {
  set_random_seed(4);
  auto model = Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{2}}})});
  model->compile({{"optimizer", Dict{{"class_name", "SGD"}, {"config", Dict{{"learning_rate", rate}}}}}, {"loss", "mse"}});
  return model;
}
const Tensor& x() {
  static const Tensor data = SeedGenerator(1).normal({32, 2});
  return data;
}
Tensor y() { return ops::sum(x(), {1}, true); }

std::shared_ptr<History> fit(Model& model, Value callbacks, int64_t epochs, Dict more = {}) {
  more.set("callbacks", std::move(callbacks));
  more.set("epochs", epochs);
  more.set("verbose", 0);
  return model.fit({x()}, {y()}, more);
}

}  // namespace

TEST_CASE("early stopping ends a run and takes back the best weights") {
  auto model = model_with(2.5);                        // diverges: the first epoch is the best
  auto stop = make<Callback>("EarlyStopping", {{"monitor", "loss"}, {"patience", 2}, {"restore_best_weights", true}});
  auto history = fit(*model, stop, 20, {{"batch_size", 32}, {"shuffle", false}});
  CHECK(history->epoch().size() < 20);
  const std::vector<double>& losses = history->at("loss");
  const double best = *std::min_element(losses.begin(), losses.end());
  CHECK(losses.front() == best);
  auto again = model_with(2.5);
  fit(*again, Value(), 1, {{"batch_size", 32}, {"shuffle", false}});
  CHECK(model->get_weights().front().to_vector() == again->get_weights().front().to_vector());
}

TEST_CASE("a run of NaN is ended") {
  auto model = model_with(1e30);
  auto history = fit(*model, make<Callback>("TerminateOnNaN"), 5, {{"batch_size", 4}});
  CHECK(history->epoch().size() == 1);
}

TEST_CASE("the rate falls on a plateau and is part of the logs") {
  auto model = model_with(2.5);
  auto plateau = make<Callback>("ReduceLROnPlateau", {{"monitor", "loss"}, {"patience", 1}, {"factor", 0.5}});
  auto history = fit(*model, plateau, 5, {{"batch_size", 32}});
  CHECK(model->optimizer()->learning_rate().value().item() < 2.5);
  CHECK(history->history().size() >= 1);
}

TEST_CASE("checkpoints are models that load") {
  auto model = model_with(0.05);
  const std::string path = "model_test_checkpoint.h5";
  fit(*model, make<Callback>("ModelCheckpoint", {{"filepath", path}, {"monitor", "loss"}, {"save_best_only", true}}), 2);
  auto loaded = load_model(path);
  CHECK(loaded->predict({x()}).front().to_vector() == model->predict({x()}).front().to_vector());
  std::remove(path.c_str());
}

TEST_CASE("a saved model goes on bit for bit") {
  auto model = model_with(0.05);
  fit(*model, Value(), 2, {{"batch_size", 5}});
  const std::string path = "model_test_resumed.h5";
  save_model(*model, path);
  auto loaded = load_model(path);
  std::remove(path.c_str());
  CHECK(loaded->epochs_trained() == 2);
  const auto a = fit(*model, Value(), 2, {{"batch_size", 5}})->at("loss"), b = fit(*loaded, Value(), 2, {{"batch_size", 5}})->at("loss");
  CHECK(a == b);
}
