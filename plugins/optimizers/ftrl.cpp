// Follow the regularized leader (McMahan et al. 2013), which gives sparse weights.
#include "crescent/layer/optimizer.h"
#include "crescent/registry/registration.h"
#include "update_rule.h"

namespace crescent {
namespace {

using namespace ops;

class Ftrl final : public UpdateRule {
 public:
  static void describe(Schema<Ftrl>& s) {
    s.trait("elementwise", true)
        .doc(
            "Follow the regularized leader, which makes many weights exactly 0 (McMahan et al. "
            "2013).")
        .field("learning_rate", &Ftrl::learning_rate_, "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("learning_rate_power", &Ftrl::learning_rate_power_,
               "Exponent of the decay of the rate, at most 0.")
        .max(0)
        .field("initial_accumulator_value", &Ftrl::initial_accumulator_value_,
               "Initial value of the sum of squares.")
        .min(0)
        .field("l1_regularization_strength", &Ftrl::l1_, "Factor of the l1 penalty.")
        .min(0)
        .field("l2_regularization_strength", &Ftrl::l2_, "Factor of the l2 penalty.")
        .min(0)
        .field("l2_shrinkage_regularization_strength", &Ftrl::shrinkage_,
               "Factor of the l2 penalty that shrinks weights without changing the accumulators.")
        .min(0)
        .field("beta", &Ftrl::beta_, "Reduces the rate of the first steps.");
  }

 protected:
  std::vector<std::string> slots() const override { return {"accumulator", "linear"}; }
  Tensor initial_slot(std::string_view slot, const Variable& w) const override {
    return Tensor::full(w.shape(), slot == "accumulator" ? initial_accumulator_value_ : 0,
                        w.dtype());
  }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor&,
            Slots slots) override {
    const Tensor old_accumulator = slots[0].value(), accumulator = old_accumulator + square(g);
    const Tensor quadratic_growth = (power(accumulator, -learning_rate_power_) -
                                     power(old_accumulator, -learning_rate_power_)) /
                                    rate;
    const Tensor linear_term =
        slots[1] + (g + 2 * shrinkage_ * w.value() - quadratic_growth * w.value());
    const Tensor quadratic_term =
        power(accumulator, -learning_rate_power_) / rate + 2.0 * (l2_ + beta_ / (2.0 * rate));
    slots[0].assign(accumulator);
    slots[1].assign(linear_term);
    w.assign((clip(linear_term, -l1_, l1_) - linear_term) / quadratic_term);
  }

 private:
  double learning_rate_power_ = -0.5, initial_accumulator_value_ = 0.1, l1_ = 0, l2_ = 0,
         shrinkage_ = 0, beta_ = 0;
};

}  // namespace

CRESCENT_REGISTER(ftrl) { registry.add<Ftrl>("Ftrl", {"ftrl"}); }

}  // namespace crescent
