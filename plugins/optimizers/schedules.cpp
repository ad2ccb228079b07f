// Learning-rate schedules: learning rates as functions of the step, which is counted from 0, with
// the names and formulas of Keras.
#include <cmath>
#include <numbers>

#include "crescent/layer/schedule.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

using namespace ops;

Tensor as_float(const Tensor& step) { return cast(step, DType::float32); }

class ExponentialDecay final : public Schedule {
 public:
  static void describe(Schema<ExponentialDecay>& s) {
    s.doc("initial_learning_rate * decay_rate^(step / decay_steps)")
        .field("initial_learning_rate", &ExponentialDecay::initial_learning_rate_,
               "Rate at step 0.")
        .required()
        .field("decay_steps", &ExponentialDecay::decay_steps_,
               "Number of steps in which the rate falls by decay_rate.")
        .required()
        .min(1)
        .field("decay_rate", &ExponentialDecay::decay_rate_, "Factor of the rate.")
        .required()
        .field("staircase", &ExponentialDecay::staircase_,
               "Lower the rate in steps instead of continuously.")
        .field("name", &ExponentialDecay::name_, "Name of the schedule.");
  }
  Tensor operator()(const Tensor& step) const override {
    const Tensor progress = as_float(step) / double(decay_steps_);
    return initial_learning_rate_ *
           power(Tensor(decay_rate_), staircase_ ? floor(progress) : progress);
  }

 private:
  double initial_learning_rate_ = 0.1, decay_rate_ = 0.9;
  int64_t decay_steps_ = 1;
  bool staircase_ = false;
  std::string name_ = "ExponentialDecay";
};

class PiecewiseConstantDecay final : public Schedule {
 public:
  static void describe(Schema<PiecewiseConstantDecay>& s) {
    s.doc("values[i] up to and including step boundaries[i], the last value afterwards.")
        .field("boundaries", &PiecewiseConstantDecay::boundaries_,
               "Steps at which the value changes, ascending.")
        .required()
        .field("values", &PiecewiseConstantDecay::values_, "Rates, one more than boundaries.")
        .required()
        .field("name", &PiecewiseConstantDecay::name_, "Name of the schedule.");
  }
  void configured() override {
    if (values_.size() != boundaries_.size() + 1)
      fail("expected one value more than boundaries, got ", values_.size(), " values and ",
           boundaries_.size(), " boundaries");
  }
  Tensor operator()(const Tensor& step) const override {
    Tensor rate(values_.back());
    for (size_t i = boundaries_.size(); i-- > 0;)
      rate = where(less_equal(as_float(step), boundaries_[i]), Tensor(values_[i]), rate);
    return rate;
  }

 private:
  std::vector<double> boundaries_, values_{0.01};
  std::string name_ = "PiecewiseConstant";
};

class PolynomialDecay final : public Schedule {
 public:
  static void describe(Schema<PolynomialDecay>& s) {
    s.doc(
         "(initial_learning_rate - end_learning_rate) * (1 - step / decay_steps)^power + "
         "end_learning_rate")
        .field("initial_learning_rate", &PolynomialDecay::initial_learning_rate_, "Rate at step 0.")
        .required()
        .field("decay_steps", &PolynomialDecay::decay_steps_, "Number of steps of the decay.")
        .required()
        .min(1)
        .field("end_learning_rate", &PolynomialDecay::end_learning_rate_, "Final rate.")
        .field("power", &PolynomialDecay::power_, "Exponent.")
        .field("cycle", &PolynomialDecay::cycle_,
               "Extend decay_steps to a multiple of itself beyond the end, instead of staying at "
               "the final rate.")
        .field("name", &PolynomialDecay::name_, "Name of the schedule.");
  }
  Tensor operator()(const Tensor& step) const override {
    const double steps = double(decay_steps_);
    Tensor position = as_float(step), decay_end(steps);
    if (cycle_)
      decay_end = steps * maximum(ceil(position / steps), 1);
    else
      position = minimum(position, steps);
    return (initial_learning_rate_ - end_learning_rate_) *
               power(1.0 - position / decay_end, power_) +
           end_learning_rate_;
  }

 private:
  double initial_learning_rate_ = 0.1, end_learning_rate_ = 1e-4, power_ = 1;
  int64_t decay_steps_ = 1;
  bool cycle_ = false;
  std::string name_ = "PolynomialDecay";
};

class InverseTimeDecay final : public Schedule {
 public:
  static void describe(Schema<InverseTimeDecay>& s) {
    s.doc("initial_learning_rate / (1 + decay_rate * step / decay_steps)")
        .field("initial_learning_rate", &InverseTimeDecay::initial_learning_rate_,
               "Rate at step 0.")
        .required()
        .field("decay_steps", &InverseTimeDecay::decay_steps_,
               "Number of steps of one unit of time.")
        .required()
        .min(1)
        .field("decay_rate", &InverseTimeDecay::decay_rate_, "Decay per unit of time.")
        .required()
        .field("staircase", &InverseTimeDecay::staircase_,
               "Lower the rate in steps instead of continuously.")
        .field("name", &InverseTimeDecay::name_, "Name of the schedule.");
  }
  Tensor operator()(const Tensor& step) const override {
    const Tensor progress = as_float(step) / double(decay_steps_);
    return initial_learning_rate_ / (1.0 + decay_rate_ * (staircase_ ? floor(progress) : progress));
  }

 private:
  double initial_learning_rate_ = 0.1, decay_rate_ = 0.5;
  int64_t decay_steps_ = 1;
  bool staircase_ = false;
  std::string name_ = "InverseTimeDecay";
};

class CosineDecay final : public Schedule {
 public:
  static void describe(Schema<CosineDecay>& s) {
    s.doc(
         "Falls along half a cosine from the initial rate to alpha times it, after an optional "
         "linear warm-up (Loshchilov and Hutter 2016).")
        .field("initial_learning_rate", &CosineDecay::initial_learning_rate_, "Rate at step 0.")
        .required()
        .field("decay_steps", &CosineDecay::decay_steps_, "Number of steps of the decay.")
        .required()
        .min(1)
        .field("alpha", &CosineDecay::alpha_, "Final rate as a fraction of the initial one.")
        .field("name", &CosineDecay::name_, "Name of the schedule.")
        .field("warmup_target", &CosineDecay::warmup_target_, "Rate after the warm-up.")
        .field("warmup_steps", &CosineDecay::warmup_steps_, "Number of steps of the warm-up.")
        .min(0);
  }
  Tensor operator()(const Tensor& step) const override {
    const Tensor position = as_float(step);
    if (!warmup_target_)
      return decay(minimum(position, double(decay_steps_)), initial_learning_rate_);
    const double warmup_step_count = double(warmup_steps_);
    const Tensor warmup_rate =
        initial_learning_rate_ +
        (*warmup_target_ - initial_learning_rate_) * (position / std::max(warmup_step_count, 1.0));
    const Tensor decayed_rate =
        decay(clip(position - warmup_step_count, 0, double(decay_steps_)), *warmup_target_);
    return where(less(position, warmup_step_count), warmup_rate, decayed_rate);
  }

 private:
  Tensor decay(const Tensor& decay_step, double start_rate) const {
    const Tensor cosine = 0.5 * (1.0 + cos(decay_step * (std::numbers::pi / double(decay_steps_))));
    return start_rate * ((1 - alpha_) * cosine + alpha_);
  }

  double initial_learning_rate_ = 0.1, alpha_ = 0;
  int64_t decay_steps_ = 1, warmup_steps_ = 0;
  std::optional<double> warmup_target_;
  std::string name_ = "CosineDecay";
};

class CosineDecayRestarts final : public Schedule {
 public:
  static void describe(Schema<CosineDecayRestarts>& s) {
    s.doc(
         "Falls along half a cosine repeatedly; each period is t_mul times as long and starts "
         "m_mul times as high as the one before (Loshchilov and Hutter 2016).")
        .field("initial_learning_rate", &CosineDecayRestarts::initial_learning_rate_,
               "Rate at step 0.")
        .required()
        .field("first_decay_steps", &CosineDecayRestarts::first_decay_steps_,
               "Number of steps of the first period.")
        .required()
        .min(1)
        .field("t_mul", &CosineDecayRestarts::period_factor_,
               "Ratio of the lengths of consecutive periods.")
        .field("m_mul", &CosineDecayRestarts::rate_factor_,
               "Ratio of the initial rates of consecutive periods.")
        .field("alpha", &CosineDecayRestarts::alpha_,
               "Rate at the end of a period as a fraction of its start.")
        .field("name", &CosineDecayRestarts::name_, "Name of the schedule.");
  }
  Tensor operator()(const Tensor& step) const override {
    // the number of steps, divided by the length of the first period
    const Tensor progress = as_float(step) / double(first_decay_steps_);
    Tensor restart_count, fraction;
    if (period_factor_ == 1) {
      restart_count = floor(progress);
      fraction = progress - restart_count;
    } else {
      restart_count = floor(log(1.0 - progress * (1 - period_factor_)) / std::log(period_factor_));
      const Tensor length = power(Tensor(period_factor_), restart_count);
      fraction = (progress - (1.0 - length) / (1 - period_factor_)) / length;
    }
    const Tensor height = power(Tensor(rate_factor_), restart_count);
    const Tensor cosine = 0.5 * height * (1.0 + cos(fraction * std::numbers::pi));
    return initial_learning_rate_ * ((1 - alpha_) * cosine + alpha_);
  }

 private:
  double initial_learning_rate_ = 0.1, period_factor_ = 2, rate_factor_ = 1, alpha_ = 0;
  int64_t first_decay_steps_ = 1;
  std::string name_ = "SGDRDecay";
};

}  // namespace

CRESCENT_REGISTER(schedules) {
  registry.add<ExponentialDecay>("ExponentialDecay");
  registry.add<PiecewiseConstantDecay>("PiecewiseConstantDecay");
  registry.add<PolynomialDecay>("PolynomialDecay");
  registry.add<InverseTimeDecay>("InverseTimeDecay");
  registry.add<CosineDecay>("CosineDecay");
  registry.add<CosineDecayRestarts>("CosineDecayRestarts");
}

}  // namespace crescent
