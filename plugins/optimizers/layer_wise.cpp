// Update rules whose steps are proportional to the size of the weights: Adafactor and Lamb.
#include "crescent/layer/optimizer.h"
#include "crescent/registry/registration.h"
#include "update_rule.h"

namespace crescent {
namespace {

using namespace ops;

Tensor root_mean_square(const Tensor& x) { return sqrt(mean(square(x))); }

/// Adafactor (Shazeer and Stern 2018). For a matrix it stores only the means over rows and over
/// columns of the average of squared gradients.
class Adafactor final : public UpdateRule {
 public:
  static void describe(Schema<Adafactor>& s) {
    s.doc(
         "Adaptive steps with a factored second moment of rows and columns, which saves memory "
         "(Shazeer and Stern 2018).")
        .field("learning_rate", &Adafactor::learning_rate_,
               "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("beta_2_decay", &Adafactor::beta_2_decay_,
               "Exponent of the decay of the second moment.")
        .field("epsilon_1", &Adafactor::epsilon_1_, "Small constant added to squared gradients.")
        .field("epsilon_2", &Adafactor::epsilon_2_, "Lower limit of the scale of weights.")
        .field("clip_threshold", &Adafactor::clip_threshold_,
               "Upper limit of the root mean square of a step.")
        .field("relative_step", &Adafactor::relative_step_,
               "Limit the rate to 1 / sqrt(step), unless a schedule gives it.");
  }

 protected:
  std::vector<std::string> slots() const override { return {"r", "c", "velocity"}; }
  Tensor initial_slot(std::string_view slot, const Variable& w) const override {
    const Shape& shape = w.shape();
    if (slot == "velocity") return Tensor(shape, w.dtype());
    if (shape.rank() < 2) return {};
    std::vector<int64_t> dims(shape.begin(), shape.end());
    dims.erase(slot == "r" ? dims.end() - 1 : dims.end() - 2);
    return Tensor(Shape(dims), w.dtype());
  }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor& step,
            Slots slots) override {
    const Tensor step_decay = 1.0 / sqrt(step);
    const bool is_relative = relative_step_ && !learning_rate_.schedule;
    const Tensor limited_rate = minimum(is_relative ? minimum(rate, step_decay) : rate, step_decay);
    const Tensor step_size = maximum(root_mean_square(w), epsilon_2_) * limited_rate;
    const Tensor squares = square(g) + epsilon_1_;
    const Tensor decay = 1.0 - power(step, beta_2_decay_);
    const Tensor direction = g / sqrt(variance(slots, squares, decay));
    const Tensor clip_divisor = maximum(root_mean_square(direction) / clip_threshold_, 1);
    w.assign(w - step_size * (direction / clip_divisor));
  }

 private:
  /// Updates and returns the average of squared gradients. For a matrix it is the product of the
  /// averages of rows and of columns, which are stored instead.
  static Tensor variance(Slots slots, const Tensor& squares, const Tensor& decay) {
    auto update_average = [&](const Variable& stored_average, const Tensor& new_value) {
      const Tensor new_average = decay * stored_average.value() + (1.0 - decay) * new_value;
      stored_average.assign(new_average);
      return new_average;
    };
    if (slots.size() == 1) return update_average(slots[0], squares);
    const Tensor rows = update_average(slots[0], mean(squares, {-1})),
                 columns = update_average(slots[1], mean(squares, {-2}));
    const Tensor product =
        expand_dims(rows / mean(rows, {-1}, true), -1) * expand_dims(columns, -2);
    slots[2].assign(product);
    return product;
  }

  double beta_2_decay_ = -0.8, epsilon_1_ = 1e-30, epsilon_2_ = 1e-3, clip_threshold_ = 1;
  bool relative_step_ = true;
};

/// Lamb (You et al. 2019): the steps of Adam, scaled in proportion to the norm of the weights.
class Lamb final : public UpdateRule {
 public:
  static void describe(Schema<Lamb>& s) {
    s.doc(
         "Adam with steps scaled to the norms of the weights, for large batches (You et al. 2019).")
        .field("learning_rate", &Lamb::learning_rate_, "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("beta_1", &Lamb::beta_1_, "Decay rate of the average of gradients.")
        .min(0)
        .max(1)
        .field("beta_2", &Lamb::beta_2_, "Decay rate of the average of squared gradients.")
        .min(0)
        .max(1)
        .field("epsilon", &Lamb::epsilon_, "Small constant added to the square root.");
  }

 protected:
  std::vector<std::string> slots() const override { return {"momentum", "velocity"}; }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor& step,
            Slots slots) override {
    const Tensor m = average(slots[0], g, beta_1_), v = average(slots[1], square(g), beta_2_);
    const Tensor direction =
        m / bias_correction(beta_1_, step) / (sqrt(v / bias_correction(beta_2_, step)) + epsilon_);
    const Tensor weight_norm = sqrt(sum(square(w.value()))),
                 step_norm = sqrt(sum(square(direction)));
    const Tensor is_nonzero = logical_and(greater(weight_norm, 0), greater(step_norm, 0));
    const Tensor ratio = where(is_nonzero, weight_norm / where(is_nonzero, step_norm, 1), 1);
    w.assign(w - ratio * rate * direction);
  }

 private:
  double beta_1_ = 0.9, beta_2_ = 0.999, epsilon_ = 1e-7;
};

}  // namespace

CRESCENT_REGISTER(layer_wise) {
  registry.add<Adafactor>("Adafactor", {"adafactor"});
  registry.add<Lamb>("Lamb", {"lamb"});
}

}  // namespace crescent
