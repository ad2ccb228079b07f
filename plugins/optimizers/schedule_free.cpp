// Schedule-free AdamW (Defazio et al. 2024): the weights are an interpolation of the iterates and
// their average.
#include "crescent/layer/optimizer.h"
#include "crescent/registry/registration.h"
#include "update_rule.h"

namespace crescent {
namespace {

using namespace ops;

class ScheduleFreeAdamW final : public UpdateRule {
 public:
  ScheduleFreeAdamW() { learning_rate_ = 0.0025; }
  static void describe(Schema<ScheduleFreeAdamW>& s) {
    s.trait("elementwise", true)
        .doc(
            "AdamW that averages its iterates instead of following a learning rate schedule "
            "(Defazio "
            "et al. 2024).")
        .field("learning_rate", &ScheduleFreeAdamW::learning_rate_,
               "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("beta_1", &ScheduleFreeAdamW::beta_1_,
               "Interpolation between iterate and average at which gradients are computed.")
        .min(0)
        .max(1)
        .field("beta_2", &ScheduleFreeAdamW::beta_2_,
               "Decay rate of the average of squared gradients.")
        .min(0)
        .max(1)
        .field("epsilon", &ScheduleFreeAdamW::epsilon_, "Small constant added to the square root.")
        .field("warmup_steps", &ScheduleFreeAdamW::warmup_steps_,
               "Number of steps of the linear warm-up.")
        .min(0)
        .method("swap_to_train", &ScheduleFreeAdamW::swap_to_train,
                "Switches the weights to the values for training, after swap_to_eval.")
        .method("train", &ScheduleFreeAdamW::swap_to_train, "The same as swap_to_train.")
        .method("swap_to_eval", &ScheduleFreeAdamW::swap_to_eval,
                "Switches the weights to the averages, which predict better.")
        .method("eval", &ScheduleFreeAdamW::swap_to_eval, "The same as swap_to_eval.");
  }

 protected:
  std::vector<std::string> slots() const override { return {"momentum", "velocity"}; }
  Tensor initial_slot(std::string_view slot, const Variable& w) const override {
    return slot == "momentum" ? w.value().clone() : Tensor(w.shape(), w.dtype());
  }
  /// Sets the momentum to the weight in the first step, because weights may be loaded after the
  /// slots were created.
  void begin(const Variable& w, const Tensor& step, Slots slots) override {
    slots[0].assign(where(equal(step, 1), w.value(), slots[0].value()));
  }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor& step,
            Slots slots) override {
    const Tensor warmed_up_rate =
        warmup_steps_ > 0 ? rate * minimum(step / double(warmup_steps_), 1) : rate;
    const Tensor point_before = slots[0].value(), v = average(slots[1], square(g), beta_2_);
    const Tensor point_after =
        point_before - warmed_up_rate * g / (sqrt(v / bias_correction(beta_2_, step)) + epsilon_);
    // The paper computes the old mean from `point_before`; Keras (on TensorFlow and PyTorch) reads
    // the variable after the step.
    const Tensor old_mean = (w - (1 - beta_1_) * point_after) / beta_1_;
    const Tensor weight = 1.0 / step;
    const Tensor mean = (1.0 - weight) * old_mean + weight * point_after;
    slots[0].assign(point_after);
    w.assign((1 - beta_1_) * point_after + beta_1_ * mean);
  }

 private:
  void swap_to_train() {
    for (const auto& [w, point] : pairs_with("momentum"))
      w.assign((1 - beta_1_) * point.value() + beta_1_ * w);
  }
  void swap_to_eval() {
    for (const auto& [w, point] : pairs_with("momentum"))
      w.assign((w - (1 - beta_1_) * point.value()) / beta_1_);
  }

  double beta_1_ = 0.9, beta_2_ = 0.999, epsilon_ = 1e-8;
  int64_t warmup_steps_ = 0;
};

}  // namespace

CRESCENT_REGISTER(schedule_free) {
  registry.add<ScheduleFreeAdamW>("ScheduleFreeAdamW",
                                  {"schedulefreeadamw", "schedule_free_adamw"});
}

}  // namespace crescent
