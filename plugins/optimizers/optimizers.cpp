// The update rules of Keras 3, one class per rule. `rate` is the learning rate; `step` is the
// number of the training step, counted from 1. Both are scalar tensors. g is the gradient.
#include "crescent/layer/optimizer.h"
#include "crescent/registry/registration.h"
#include "update_rule.h"

namespace crescent {
namespace {

using namespace ops;

class Sgd final : public UpdateRule {
 public:
  Sgd() { learning_rate_ = 0.01; }
  static void describe(Schema<Sgd>& s) {
    s.trait("elementwise", true)
        .doc("Gradient descent, with momentum if given.")
        .field("learning_rate", &Sgd::learning_rate_, "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("momentum", &Sgd::momentum_, "Momentum of the steps.")
        .min(0)
        .max(1)
        .field("nesterov", &Sgd::nesterov_, "Use Nesterov momentum.");
  }

 protected:
  std::vector<std::string> slots() const override {
    return momentum_ > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
  }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor&,
            Slots slots) override {
    const Tensor step = g * rate;
    if (momentum_ == 0) return w.assign(w - step);
    const Tensor velocity = slots[0] * momentum_ - step;
    slots[0].assign(velocity);
    w.assign(nesterov_ ? w + velocity * momentum_ - step : w + velocity);
  }

 private:
  double momentum_ = 0;
  bool nesterov_ = false;
};

class Adam : public UpdateRule {
 public:
  static void describe(Schema<Adam>& s) {
    s.trait("elementwise", true)
        .doc(
            "Adaptive steps from moving averages of the gradient and its square (Kingma and Ba "
            "2014).");
    describe_adam(s);
  }

 protected:
  template <class T>
  static void describe_adam(Schema<T>& s) {
    s.field("learning_rate", &Adam::learning_rate_, "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("beta_1", &Adam::beta_1_, "Decay rate of the average of gradients.")
        .min(0)
        .max(1)
        .field("beta_2", &Adam::beta_2_, "Decay rate of the average of squared gradients.")
        .min(0)
        .max(1)
        .field("epsilon", &Adam::epsilon_, "Small constant added to the square root.")
        .field("amsgrad", &Adam::amsgrad_,
               "Divide by the largest average of squares so far (Reddi et al. 2018).");
  }
  std::vector<std::string> slots() const override {
    std::vector<std::string> names{"momentum", "velocity"};
    if (amsgrad_) names.push_back("velocity_hat");
    return names;
  }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor& step,
            Slots slots) override {
    const Tensor alpha =
        rate * sqrt(bias_correction(beta_2_, step)) / bias_correction(beta_1_, step);
    const Tensor m = average(slots[0], g, beta_1_);
    Tensor v = average(slots[1], square(g), beta_2_);
    if (amsgrad_) {
      v = maximum(slots[2], v);
      slots[2].assign(v);
    }
    w.assign(w - m * alpha / (sqrt(v) + epsilon_));
  }

 private:
  double beta_1_ = 0.9, beta_2_ = 0.999, epsilon_ = 1e-7;
  bool amsgrad_ = false;
};

class AdamW final : public Adam {
 public:
  AdamW() { decay_ = 0.004; }
  static void describe(Schema<AdamW>& s) {
    s.trait("elementwise", true)
        .doc("Adam with decoupled weight decay (Loshchilov and Hutter 2019).");
    describe_adam(s);
  }
};

class RmsProp final : public UpdateRule {
 public:
  static void describe(Schema<RmsProp>& s) {
    s.trait("elementwise", true)
        .doc(
            "Divides steps by the root of a moving average of squared gradients (Tieleman and "
            "Hinton "
            "2012).")
        .field("learning_rate", &RmsProp::learning_rate_,
               "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("rho", &RmsProp::rho_, "Decay rate of the average of squared gradients.")
        .min(0)
        .max(1)
        .field("momentum", &RmsProp::momentum_, "Momentum of the steps.")
        .min(0)
        .max(1)
        .field("epsilon", &RmsProp::epsilon_, "Small constant added inside the square root.")
        .field("centered", &RmsProp::centered_,
               "Divide by an estimate of the standard deviation of the gradient instead.")
        .field("epsilon_outside", &RmsProp::epsilon_outside_,
               "Add epsilon to the square root instead, as Keras 2.3.1 does.");
  }

 protected:
  std::vector<std::string> slots() const override {
    std::vector<std::string> names{"velocity"};
    if (momentum_ > 0) names.push_back("momentum");
    if (centered_) names.push_back("average_gradient");
    return names;
  }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor&,
            Slots slots) override {
    Tensor variance = average(slots[0], square(g), rho_);
    if (centered_) variance = variance - square(average(slots[slots.size() - 1], g, rho_));
    const Tensor step = epsilon_outside_ ? rate * g / (sqrt(variance) + epsilon_)
                                         : rate * g * rsqrt(variance + epsilon_);
    if (momentum_ == 0) return w.assign(w - step);
    const Tensor velocity = slots[1] * momentum_ + step;
    slots[1].assign(velocity);
    w.assign(w - velocity);
  }

 private:
  double rho_ = 0.9, momentum_ = 0, epsilon_ = 1e-7;
  bool centered_ = false, epsilon_outside_ = false;
};

class Adagrad final : public UpdateRule {
 public:
  static void describe(Schema<Adagrad>& s) {
    s.trait("elementwise", true)
        .doc("Divides steps by the root of the sum of all squared gradients (Duchi et al. 2011).")
        .field("learning_rate", &Adagrad::learning_rate_,
               "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("initial_accumulator_value", &Adagrad::initial_accumulator_value_,
               "Initial value of the sum.")
        .min(0)
        .field("epsilon", &Adagrad::epsilon_, "Small constant added inside the square root.")
        .field("epsilon_outside", &Adagrad::epsilon_outside_,
               "Add epsilon to the square root instead, as Keras 2.3.1 does.");
  }

 protected:
  std::vector<std::string> slots() const override { return {"accumulator"}; }
  Tensor initial_slot(std::string_view, const Variable& w) const override {
    return Tensor::full(w.shape(), initial_accumulator_value_, w.dtype());
  }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor&,
            Slots slots) override {
    const Tensor accumulator = slots[0] + square(g);
    slots[0].assign(accumulator);
    w.assign(w -
             rate * g /
                 (epsilon_outside_ ? sqrt(accumulator) + epsilon_ : sqrt(accumulator + epsilon_)));
  }

 private:
  double initial_accumulator_value_ = 0.1, epsilon_ = 1e-7;
  bool epsilon_outside_ = false;
};

class Adadelta final : public UpdateRule {
 public:
  static void describe(Schema<Adadelta>& s) {
    s.trait("elementwise", true)
        .doc("Scales steps by the ratio of past updates to past gradients (Zeiler 2012).")
        .field("learning_rate", &Adadelta::learning_rate_, "Factor of the step.")
        .alias("lr")
        .field("rho", &Adadelta::rho_, "Decay rate of both averages.")
        .min(0)
        .max(1)
        .field("epsilon", &Adadelta::epsilon_, "Small constant added inside the square roots.");
  }

 protected:
  std::vector<std::string> slots() const override {
    return {"accumulated_grad", "accumulated_delta_var"};
  }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor&,
            Slots slots) override {
    const Tensor gradients = average(slots[0], square(g), rho_);
    const Tensor step = g * sqrt(slots[1] + epsilon_) / sqrt(gradients + epsilon_);
    average(slots[1], square(step), rho_);
    w.assign(w - rate * step);
  }

 private:
  double rho_ = 0.95, epsilon_ = 1e-7;
};

class Adamax final : public UpdateRule {
 public:
  static void describe(Schema<Adamax>& s) {
    s.trait("elementwise", true)
        .doc(
            "Adam with the infinity norm of past gradients instead of their mean square (Kingma "
            "and "
            "Ba 2014).")
        .field("learning_rate", &Adamax::learning_rate_,
               "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("beta_1", &Adamax::beta_1_, "Decay rate of the average of gradients.")
        .min(0)
        .max(1)
        .field("beta_2", &Adamax::beta_2_, "Decay rate of the infinity norm.")
        .min(0)
        .max(1)
        .field("epsilon", &Adamax::epsilon_, "Small constant added to the divisor.");
  }

 protected:
  std::vector<std::string> slots() const override { return {"momentum", "norm"}; }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor& step,
            Slots slots) override {
    const Tensor m = average(slots[0], g, beta_1_);
    const Tensor largest = maximum(slots[1] * beta_2_, abs(g));
    slots[1].assign(largest);
    w.assign(w - rate * m / (bias_correction(beta_1_, step) * (largest + epsilon_)));
  }

 private:
  double beta_1_ = 0.9, beta_2_ = 0.999, epsilon_ = 1e-7;
};

class Lion final : public UpdateRule {
 public:
  static void describe(Schema<Lion>& s) {
    s.trait("elementwise", true)
        .doc("Steps by the sign of an averaged gradient (Chen et al. 2023).")
        .field("learning_rate", &Lion::learning_rate_, "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("beta_1", &Lion::beta_1_, "Weight of the average in the step.")
        .min(0)
        .max(1)
        .field("beta_2", &Lion::beta_2_, "Decay rate of the average.")
        .min(0)
        .max(1);
  }
  void configured() override {
    UpdateRule::configured();
    if (beta_1_ == 0)
      fail("beta_1: expected a number above 0, got 0, with which only signs of gradients count");
  }

 protected:
  std::vector<std::string> slots() const override { return {"momentum"}; }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor&,
            Slots slots) override {
    // The update is computed from `away`, the distance to the momentum, so that one pass over the
    // arrays suffices.
    const Tensor momentum = slots[0], away = g - momentum;
    slots[0].assign(momentum + away * (1 - beta_2_));
    w.assign(w - rate * sign(momentum + away * (1 - beta_1_)));
  }

 private:
  double beta_1_ = 0.9, beta_2_ = 0.99;
};

}  // namespace

CRESCENT_REGISTER(optimizers) {
  registry.add<Sgd>("SGD", {"sgd"});
  registry.add<Adam>("Adam", {"adam"});
  registry.add<AdamW>("AdamW", {"adamw"});
  registry.add<RmsProp>("RMSprop", {"rmsprop"});
  registry.add<Adagrad>("Adagrad", {"adagrad"});
  registry.add<Adadelta>("Adadelta", {"adadelta"});
  registry.add<Adamax>("Adamax", {"adamax"});
  registry.add<Lion>("Lion", {"lion"});
}

}  // namespace crescent
