// Callbacks that end training.
#include <cmath>
#include <cstdio>

#include "crescent/model/callback.h"
#include "crescent/model/model.h"
#include "crescent/model/training_run.h"
#include "crescent/registry/registration.h"
#include "crescent/system/interrupt.h"
#include "monitor.h"

namespace crescent {
namespace {

class EarlyStopping final : public Callback {
 public:
  static void describe(Schema<EarlyStopping>& s) {
    s.doc("Stops training when the monitored value has not improved for `patience` epochs.")
        .field("monitor", &EarlyStopping::monitor_name_, "Name of the value to monitor.")
        .field("min_delta", &EarlyStopping::min_delta_,
               "Smallest change that counts as an improvement; its sign is ignored.")
        .field("patience", &EarlyStopping::patience_, "Number of epochs without improvement.")
        .min(0)
        .field("verbose", &EarlyStopping::verbose_, "1: print a message.")
        .field("mode", &EarlyStopping::mode_,
               "Whether smaller (\"min\") or larger (\"max\") values are better; \"auto\" decides "
               "by the name.")
        .choices({"auto", "min", "max"})
        .field("baseline", &EarlyStopping::baseline_,
               "A value to beat; until then every epoch counts as one without improvement.")
        .field("restore_best_weights", &EarlyStopping::restore_best_weights_,
               "Restore the weights of the best epoch.")
        .field("start_from_epoch", &EarlyStopping::start_from_epoch_,
               "Number of epochs before monitoring begins.")
        .min(0)
        .property("wait", &EarlyStopping::wait_, "Number of epochs without improvement so far.")
        .property("best", &EarlyStopping::best, "Best value so far; null before the first.")
        .property("best_epoch", &EarlyStopping::best_epoch_, "Epoch of the best weights, from 0.")
        .property("stopped_epoch", &EarlyStopping::stopped_epoch_,
                  "Epoch, from 0, after which training was stopped; 0 if it was not.");
  }
  void on_train_begin(const Logs&) override {
    monitor_ = {.name = monitor_name_, .mode = mode_, .min_delta = std::abs(min_delta_)};
    wait_ = 0;
    best_weights_.clear();
    best_epoch_ = stopped_epoch_ = 0;
  }
  /// Looks up the monitored metric after the first batch, when all metrics of the model exist.
  void on_train_batch_end(int64_t, const Logs&) override {
    monitor_.find_direction(*model_, class_name());
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    monitor_.find_direction(*model_, class_name());
    const std::optional<double> value = monitored_value(monitor_, logs, "Early stopping");
    if (!value || epoch < start_from_epoch_) return;
    if (restore_best_weights_ && best_weights_.empty()) keep_weights(epoch);
    ++wait_;
    if (!monitor_.improves(*value)) {
      if (wait_ >= patience_ && epoch > 0) stop(epoch);
      return;
    }
    monitor_.best = *value;
    if (restore_best_weights_) keep_weights(epoch);
    if (!baseline_ || monitor_.improves_on(*value, *baseline_)) wait_ = 0;
  }
  void on_train_end(const Logs&) override {
    if (best_weights_.empty() || is_cut_short()) return;
    if (verbose_ > 0)
      std::printf("Restoring model weights from the end of the best epoch: %lld.\n",
                  (long long)best_epoch_ + 1);
    const StepLock lock(*model_);
    model_->set_weights(best_weights_);
    best_weights_.clear();
  }
  Dict get_state() const override {
    List weights;
    for (const Tensor& weight : best_weights_)
      weights.push_back(std::make_shared<BoxedTensor>(weight));
    return {{"wait", wait_},
            {"best", monitor_.best_value()},
            {"best_epoch", best_epoch_},
            {"best_weights", std::move(weights)}};
  }
  void set_state(const Dict& state) override {
    wait_ = state.at("wait").as_int();
    monitor_.set_best(state.at("best"));
    best_epoch_ = state.at("best_epoch").as_int();
    best_weights_.clear();
    for (const Value& weight : state.at("best_weights").as_list()) {
      const auto boxed = weight.object_as<BoxedTensor>();
      if (!boxed) fail("EarlyStopping: expected tensors as best_weights, got ", weight);
      best_weights_.push_back(boxed->tensor);
    }
  }

 private:
  /// Whether the training run was interrupted before its end. The model then keeps the last weights
  /// instead of the best ones, so that training can be resumed from them.
  bool is_cut_short() const {
    const TrainingRunPtr run = model_->training_run();
    return interrupted() && run && !model_->stop_training && run->epoch() < run->epochs();
  }
  void keep_weights(int64_t epoch) {
    best_weights_ = model_->get_weights();
    best_epoch_ = epoch;
  }
  Value best() const { return monitor_.best_value(); }
  void stop(int64_t epoch) {
    stopped_epoch_ = epoch;
    model_->stop_training = true;
    if (verbose_ > 0) std::printf("Epoch %lld: early stopping\n", (long long)epoch + 1);
  }

  std::string monitor_name_ = "val_loss", mode_ = "auto";
  double min_delta_ = 0;
  int64_t patience_ = 0, verbose_ = 0, start_from_epoch_ = 0;
  std::optional<double> baseline_;
  bool restore_best_weights_ = false;

  Monitor monitor_;
  int64_t wait_ = 0, best_epoch_ = 0, stopped_epoch_ = 0;
  Tensors best_weights_;
};

class TerminateOnNaN final : public Callback {
 public:
  static void describe(Schema<TerminateOnNaN>& s) {
    s.doc("Stops training when the loss is NaN or infinite.")
        .field("raise_error", &TerminateOnNaN::raise_error_, "Raise an error instead of stopping.");
  }
  void on_train_batch_end(int64_t batch, const Logs& logs) override {
    if (!logs.contains("loss") || std::isfinite(logs.at("loss"))) return;
    if (raise_error_) fail("Batch ", batch, ": Invalid loss, terminating training");
    std::printf("Batch %lld: Invalid loss, terminating training\n", (long long)batch);
    model_->stop_training = true;
  }

 private:
  bool raise_error_ = false;
};

}  // namespace

CRESCENT_REGISTER(stopping) {
  registry.add<EarlyStopping>("EarlyStopping");
  registry.add<TerminateOnNaN>("TerminateOnNaN");
}

}  // namespace crescent
