// Interrupting a run: fit keeps the completed epochs; evaluate and predict return no partial
// results.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

std::vector<std::string> warnings;

/// Collects the warnings that are raised while an object of this class exists.
class Warnings {
 public:
  Warnings() {
    warnings.clear();
    set_warning_handler([](std::string_view text) { warnings.emplace_back(text); });
  }
  ~Warnings() { set_warning_handler(nullptr); }
};

/// Records the names of the hooks that are called, and interrupts the run in the hook `when`, such
/// as "batch 3" for the end of the third training batch.
class InterruptingCallback final : public Callback {
 public:
  explicit InterruptingCallback(std::string when) : interrupting_hook_(std::move(when)) {}
  void on_train_begin(const Logs&) override { record("train_begin"); }
  void on_train_end(const Logs&) override { record("train_end"); }
  void on_epoch_begin(int64_t, const Logs&) override { record("epoch_begin"); }
  void on_epoch_end(int64_t, Logs&) override { record("epoch_end"); }
  void on_train_batch_end(int64_t, const Logs&) override {
    record(concat("batch ", ++batch_count_));
  }
  void on_test_batch_end(int64_t, const Logs&) override {
    record(concat("test ", ++test_batch_count_));
  }
  void on_predict_batch_end(int64_t, const Logs&) override {
    record(concat("predict ", ++prediction_batch_count_));
  }
  std::string text;

 private:
  void record(const std::string& hook) {
    text += (text.empty() ? "" : ", ") + hook;
    if (hook == interrupting_hook_) interrupt();
  }
  std::string interrupting_hook_;
  int batch_count_ = 0, test_batch_count_ = 0, prediction_batch_count_ = 0;
};

struct Fixture {
  Fixture() : x(SeedGenerator(5).normal({12, 3})), y(ops::sum(x, {1}, true)) {
    set_random_seed(3);
    model = Sequential::make({make<Layer>("Dense", {{"units", 1}, {"input_shape", List{3}}})});
    model->compile({{"optimizer", "sgd"}, {"loss", "mse"}});
  }
  std::shared_ptr<History> fit(const std::shared_ptr<InterruptingCallback>& callback,
                               Dict more_options = {}) {
    more_options.set("callbacks", callback);
    more_options.set("epochs", 3);
    more_options.set("batch_size", 4);
    more_options.set("verbose", 0);
    return model->fit({x}, {y}, more_options);
  }
  Tensor x, y;
  std::shared_ptr<Sequential> model;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an interrupted fit ends after the batch and keeps its whole epochs") {
  const Warnings collected_warnings;
  auto callback = std::make_shared<InterruptingCallback>("batch 5");
  auto history = fit(callback);
  CHECK(history->epoch() == std::vector<int64_t>{0});
  CHECK(history->at("loss").size() == 1);
  CHECK(model->history() == history);
  CHECK(model->epochs_trained() == 1);
  CHECK(model->optimizer()->iterations().value().item() == 5);
  CHECK(callback->text ==
        "train_begin, epoch_begin, batch 1, batch 2, batch 3, epoch_end, epoch_begin, batch 4, "
        "batch 5, train_end");
  CHECK(warnings ==
        std::vector<std::string>{"fit: interrupted after batch 2 of 3 in epoch 2 of 3"});
  CHECK(interrupted());
  CHECK(fit(std::make_shared<InterruptingCallback>(""))->epoch().size() ==
        3);  // the interruption does not affect a new run
  CHECK_FALSE(interrupted());
  CHECK(warnings.size() == 1);
}

TEST_CASE_METHOD(
    Fixture, "an epoch whose last batch was trained is whole, unless its validation is missing") {
  const Warnings collected_warnings;
  auto callback = std::make_shared<InterruptingCallback>("batch 3");
  CHECK(fit(callback)->epoch() == std::vector<int64_t>{0});
  CHECK(model->epochs_trained() == 1);
  CHECK(warnings.back() == "fit: interrupted after batch 3 of 3 in epoch 1 of 3");
  const Dict validation_options{{"validation_data", List{Value(std::make_shared<BoxedTensor>(x)),
                                                         Value(std::make_shared<BoxedTensor>(y))}}};
  for (const char* when : {"batch 3", "test 1"}) {
    auto interrupting_callback = std::make_shared<InterruptingCallback>(when);
    CHECK(fit(interrupting_callback, validation_options)->epoch().empty());
    CHECK(interrupting_callback->text.find("epoch_end") == std::string::npos);
    CHECK(warnings.back() == "fit: interrupted in the validation of epoch 1 of 3");
  }
  CHECK(model->epochs_trained() == 1);
  CHECK(fit(std::make_shared<InterruptingCallback>("epoch_end"))->epoch() ==
        std::vector<int64_t>{0});
  CHECK(fit(std::make_shared<InterruptingCallback>("train_begin"))->epoch().empty());
  CHECK(warnings.back() == "fit: interrupted before the first batch");
  CHECK(model->epochs_trained() == 2);
}

TEST_CASE_METHOD(
    Fixture,
    "generators have no known last batch; what they give after an interruption is not trained on") {
  const Warnings collected_warnings;
  int batch_count = 0;
  auto source = generator_dataset([&](Batch& batch) {
    batch = {{x}, {y}, {}};
    if (++batch_count == 3) interrupt();
    return true;
  });
  CHECK(model->fit(source, {{"verbose", 0}})->epoch().empty());
  CHECK(model->optimizer()->iterations().value().item() == 2);
  CHECK(warnings.back() == "fit: interrupted after batch 2 in epoch 1 of 1");
}

TEST_CASE_METHOD(Fixture, "evaluate, predict and profile give all or nothing") {
  auto options = [](const char* when) {
    return Dict{{"batch_size", 4},
                {"verbose", 0},
                {"callbacks", std::make_shared<InterruptingCallback>(when)}};
  };
  CHECK_THROWS_AS(model->evaluate({x}, {y}, options("test 1")), Interrupted);
  CHECK_THROWS_WITH(model->evaluate({x}, {y}, options("test 2")),
                    "evaluate: interrupted after batch 2 of 3");
  CHECK_THROWS_WITH(model->predict({x}, options("predict 1")),
                    "predict: interrupted after batch 1 of 3");
  CHECK(model->predict({x}, options("predict 3")).front().shape() == Shape{12, 1});
  CHECK_NOTHROW(model->evaluate({x}, {y}, options("test 3")));
  const InterruptScope interrupt_scope;  // a pending interruption belongs to this scope
  interrupt();
  CHECK_THROWS_WITH(model->profile({x}, {y}), Contains("profile: interrupted"));
  CHECK_THROWS_WITH(model->evaluate({x}, {y}, options("")),
                    "evaluate: interrupted after batch 0 of 3");
  clear_interrupt();
}

TEST_CASE_METHOD(Fixture, "a run inside a run leaves the interruption to the outer one") {
  class Evaluating final : public Callback {
   public:
    Evaluating(Tensor x, Tensor y) : x_(std::move(x)), y_(std::move(y)) {}
    void on_epoch_end(int64_t, Logs&) override {
      interrupt();
      model_->evaluate({x_}, {y_}, {{"verbose", 0}});
    }

   private:
    Tensor x_, y_;
  };
  const Warnings collected_warnings;
  auto history = model->fit(
      {x}, {y}, {{"epochs", 3}, {"verbose", 0}, {"callbacks", std::make_shared<Evaluating>(x, y)}});
  // No epoch counts as complete, because its callbacks did not finish the first one.
  CHECK(history->epoch().empty());
  CHECK(warnings.size() == 1);
}
