// Nadam: Adam with Nesterov momentum (Dozat 2015).
#include <cmath>

#include "crescent/layer/optimizer.h"
#include "crescent/registry/registration.h"
#include "update_rule.h"

namespace crescent {
namespace {

using namespace ops;

class Nadam final : public UpdateRule {
 public:
  static void describe(Schema<Nadam>& s) {
    s.trait("elementwise", true)
        .doc("Adam with Nesterov momentum (Dozat 2016).")
        .field("learning_rate", &Nadam::learning_rate_,
               "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("beta_1", &Nadam::beta_1_, "Decay rate of the average of gradients.")
        .min(0)
        .max(1)
        .field("beta_2", &Nadam::beta_2_, "Decay rate of the average of squared gradients.")
        .min(0)
        .max(1)
        .field("epsilon", &Nadam::epsilon_, "Small constant added to the square root.")
        .field("schedule_decay", &Nadam::schedule_decay_,
               "Speed at which the momentum grows; 1 if not given, 0.004 in Keras 2.")
        .min(0)
        .omit_null();
  }

  /// Removes the option schedule_decay if its value is 1, because Keras 3 uses this value as a
  /// constant and has no such option.
  void configured() override {
    UpdateRule::configured();
    if (schedule_decay_ == 1.0) schedule_decay_.reset();
  }

 protected:
  std::vector<std::string> slots() const override { return {"momentum", "velocity"}; }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor& step,
            Slots slots) override {
    const Tensor momentum = momentum_at(step), next_momentum = momentum_at(step + 1.0);
    const Tensor product = momenta_until(step);
    const Tensor m = average(slots[0], g, beta_1_), v = average(slots[1], square(g), beta_2_);
    const Tensor corrected_mean = next_momentum * m / (1.0 - product * next_momentum) +
                                  (1.0 - momentum) * g / (1.0 - product);
    const Tensor deviation = sqrt(v / bias_correction(beta_2_, step));
    w.assign(w - corrected_mean * rate / (deviation + epsilon_));
  }

 private:
  /// The momentum at a step, which grows from about 0.52 beta_1 to beta_1.
  Tensor momentum_at(const Tensor& step) const {
    return beta_1_ * (1.0 - 0.5 * power(Tensor(0.96), step * decay()));
  }
  /// The product of the momenta of steps 1 to n. With q = 0.96^decay, the logarithm of the product
  /// of 1 - q^i / 2 is minus the sum over k of (1 - q^(k n)) q^k / (k 2^k (1 - q^k)). kTerms terms
  /// of this sum are exact in float32, so the product need not be stored as state.
  Tensor momenta_until(const Tensor& step) const {
    constexpr int kTerms = 32;
    const double log_q = std::log(0.96) * decay();
    if (log_q == 0) return power(Tensor(0.5 * beta_1_), step);
    std::vector<float> term_factors, exponents;
    for (int k = 1; k <= kTerms; ++k) {
      exponents.push_back(static_cast<float>(k * log_q));
      term_factors.push_back(
          static_cast<float>(std::exp(k * log_q) / std::expm1(k * log_q) / k / std::pow(2.0, k)));
    }
    const Tensor decayed_powers =
        expm1(Tensor::from(exponents, {kTerms}) * cast(step, DType::float32));
    const Tensor product = exp(sum(Tensor::from(term_factors, {kTerms}) * decayed_powers * -1.0));
    return cast(product, step.dtype()) * power(Tensor(beta_1_), step);
  }
  double decay() const { return schedule_decay_.value_or(1); }

  double beta_1_ = 0.9, beta_2_ = 0.999, epsilon_ = 1e-7;
  std::optional<double> schedule_decay_;
};

}  // namespace

CRESCENT_REGISTER(nadam) { registry.add<Nadam>("Nadam", {"nadam"}); }

}  // namespace crescent
