// Callbacks that change the learning rate.
#include <cstdio>

#include "crescent/model/callback.h"
#include "crescent/model/model.h"
#include "crescent/registry/registration.h"
#include "monitor.h"

namespace crescent {
namespace {

class ReduceLROnPlateau final : public Callback {
 public:
  static void describe(Schema<ReduceLROnPlateau>& s) {
    s.doc("Multiplies the learning rate by `factor` when the monitored value stops improving.")
        .field("monitor", &ReduceLROnPlateau::monitor_name_, "Name of the value to monitor.")
        .field("factor", &ReduceLROnPlateau::factor_, "Factor of the rate, below 1.")
        .min(0)
        .field("patience", &ReduceLROnPlateau::patience_, "Number of epochs without improvement.")
        .min(0)
        .field("verbose", &ReduceLROnPlateau::verbose_, "1: print a message.")
        .field("mode", &ReduceLROnPlateau::mode_,
               "Whether smaller (\"min\") or larger (\"max\") values are better; \"auto\" decides "
               "by the name.")
        .choices({"auto", "min", "max"})
        .field("min_delta", &ReduceLROnPlateau::min_delta_,
               "Smallest change that counts as an improvement.")
        .min(0)
        .field("cooldown", &ReduceLROnPlateau::cooldown_,
               "Number of epochs to wait after a reduction.")
        .min(0)
        .field("min_lr", &ReduceLROnPlateau::min_lr_, "Lower limit of the rate.")
        .min(0);
  }
  void configured() override {
    if (factor_ >= 1) fail("ReduceLROnPlateau does not support a factor >= 1.0.");
  }
  void on_train_begin(const Logs&) override {
    monitor_ = {.name = monitor_name_, .mode = mode_, .min_delta = min_delta_};
    wait_ = remaining_cooldown_ = 0;
  }
  /// Looks up the monitored metric after the first batch, when all metrics of the model exist.
  void on_train_batch_end(int64_t, const Logs&) override {
    monitor_.find_direction(*model_, class_name());
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    monitor_.find_direction(*model_, class_name());
    logs.set("learning_rate", rate());
    const std::optional<double> value = monitored_value(monitor_, logs, "Reduce LR on plateau");
    if (!value) return;
    if (remaining_cooldown_ > 0) {
      --remaining_cooldown_;
      wait_ = 0;
    }
    if (monitor_.improves(*value)) {
      monitor_.best = *value;
      wait_ = 0;
    } else if (remaining_cooldown_ == 0 && ++wait_ >= patience_) {
      reduce(epoch);
    }
  }
  Dict get_state() const override {
    return {{"wait", wait_}, {"cooldown", remaining_cooldown_}, {"best", monitor_.best_value()}};
  }
  void set_state(const Dict& state) override {
    wait_ = state.at("wait").as_int();
    remaining_cooldown_ = state.at("cooldown").as_int();
    monitor_.set_best(state.at("best"));
  }

 private:
  double rate() const { return model_->optimizer()->learning_rate().value().item(); }
  void reduce(int64_t epoch) {
    if (rate() <= min_lr_) return;
    const double reduced_rate = std::max(rate() * factor_, min_lr_);
    model_->optimizer()->set_learning_rate(reduced_rate);
    if (verbose_ > 0)
      std::printf("\nEpoch %lld: ReduceLROnPlateau reducing learning rate to %s.\n",
                  (long long)epoch + 1, to_text(reduced_rate).c_str());
    remaining_cooldown_ = cooldown_;
    wait_ = 0;
  }

  std::string monitor_name_ = "val_loss", mode_ = "auto";
  double factor_ = 0.1, min_delta_ = 1e-4, min_lr_ = 0;
  int64_t patience_ = 10, verbose_ = 0, cooldown_ = 0;

  Monitor monitor_;
  int64_t wait_ = 0, remaining_cooldown_ = 0;
};

}  // namespace

CRESCENT_REGISTER(schedulers) { registry.add<ReduceLROnPlateau>("ReduceLROnPlateau"); }

}  // namespace crescent
