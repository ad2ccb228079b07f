// Adam with Nesterov's momentum (Dozat 2015).
#include "optimizers.h"
#include "update_rule.h"

namespace crescent {
namespace {

using namespace ops;

class Nadam final : public UpdateRule {
 public:
  static void describe(Schema<Nadam>& s) {
    s.doc("Adam that looks ahead along its momentum.")
        .field("learning_rate", &Nadam::learning_rate_, "Step size.")
        .alias("lr")
        .field("beta_1", &Nadam::beta_1_, "Momentum of the gradient's average.")
        .min(0)
        .max(1)
        .field("beta_2", &Nadam::beta_2_, "Momentum of the square's average.")
        .min(0)
        .max(1)
        .field("epsilon", &Nadam::epsilon_, "Added to the root.");
  }

 protected:
  std::vector<std::string> slots() const override { return {"momentum", "velocity"}; }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor& step,
            std::span<const Variable> slots) override {
    const Tensor now = momentum_at(step), next = momentum_at(step + 1.0);
    const Tensor so_far = momenta_until(step);
    const Tensor m = average(slots[0], g, beta_1_), v = average(slots[1], square(g), beta_2_);
    const Tensor mean = next * m / (1.0 - so_far * next) + (1.0 - now) * g / (1.0 - so_far);
    const Tensor deviation = sqrt(v / bias_correction(beta_2_, step));
    w.assign(w - mean * rate / (deviation + epsilon_));
  }

 private:
  /// It grows from 0.52 to 1 times beta_1.
  Tensor momentum_at(const Tensor& step) const {
    return beta_1_ * (1.0 - 0.5 * power(Tensor(0.96), step));
  }
  /// The product of the momenta of steps 1 to `step`. Their growth has ended after kGrowth steps,
  /// to the last digit of float32, so the product needs no state.
  Tensor momenta_until(const Tensor& step) const {
    constexpr int64_t kGrowth = 512;
    const Tensor steps = arange(kGrowth, DType::float32) + 1.0;
    const Tensor growth = 1.0 - 0.5 * power(Tensor(0.96), steps);
    const Tensor passed = less_equal(steps, cast(step, DType::float32));
    return cast(prod(where(passed, growth, 1)), step.dtype()) * power(Tensor(beta_1_), step);
  }

  double beta_1_ = 0.9, beta_2_ = 0.999, epsilon_ = 1e-7;
};

}  // namespace

void add_nadam(Registry& registry) { registry.add<Nadam>("Nadam", {"nadam"}); }

}  // namespace crescent
