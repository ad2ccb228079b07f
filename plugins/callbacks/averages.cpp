// SwapEMAWeights: while the model is evaluated or predicts, its weights are replaced by their
// moving averages.
#include "crescent/model/callback.h"
#include "crescent/model/model.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

class SwapEMAWeights final : public Callback {
 public:
  static void describe(Schema<SwapEMAWeights>& s) {
    s.doc(
         "Evaluates the model with the moving averages of its weights (use_ema of the optimizer) "
         "by exchanging them for that time.")
        .field(
            "swap_on_epoch", &SwapEMAWeights::swap_on_epoch_,
            "Exchange them at the end of each epoch too, so that checkpoints hold the averages.");
  }
  void on_train_begin(const Logs&) override { is_swapped_ = false; }
  void on_epoch_begin(int64_t, const Logs&) override {
    if (swap_on_epoch_) use_averages(false);
  }
  void on_epoch_end(int64_t epoch, Logs&) override {
    if (!swap_on_epoch_) return;
    use_averages(true);
    // The model keeps the averages as its weights after the last epoch.
    const Value* epochs = params_.find("epochs");
    const StepLock lock(*model_);
    if (epochs && epochs->is_int() && epoch == epochs->as_int() - 1)
      for (const auto& [weight, average] : weights_and_averages()) average.assign(weight.value());
  }
  void on_test_begin(const Logs&) override { use_averages(true); }
  void on_test_end(const Logs&) override { use_averages(false); }
  void on_predict_begin(const Logs&) override { use_averages(true); }
  void on_predict_end(const Logs&) override { use_averages(false); }
  Dict get_state() const override { return is_swapped_ ? Dict{{"swapped", true}} : Dict(); }
  void set_state(const Dict& state) override { is_swapped_ = state.at("swapped").as_bool(); }

 private:
  /// Pairs of a weight of the model and the moving average of this weight, which the optimizer
  /// keeps.
  std::vector<std::pair<Variable, Variable>> weights_and_averages() const {
    const auto optimizer = model_->optimizer();
    auto weights_and_averages =
        optimizer ? optimizer->pairs_with("average") : std::vector<std::pair<Variable, Variable>>();
    if (weights_and_averages.empty())
      fail("SwapEMAWeights must be used when `use_ema=True` is set on the optimizer.");
    return weights_and_averages;
  }
  void use_averages(bool is_used) {
    if (is_used == is_swapped_) return;
    const StepLock lock(*model_);
    for (const auto& [weight, average] : weights_and_averages()) {
      const Tensor weight_value = weight.value().clone();
      weight.assign(average.value());
      average.assign(weight_value);
    }
    is_swapped_ = is_used;
  }

  bool swap_on_epoch_ = false, is_swapped_ = false;
};

}  // namespace

CRESCENT_REGISTER(averages) { registry.add<SwapEMAWeights>("SwapEMAWeights"); }

}  // namespace crescent
