// Options and serialization of the base classes of activations, initializers, losses, metrics and
// optimizers.
#include "crescent/layer/training.h"
#include "registry/blame.h"

namespace crescent {

Activation::~Activation() = default;
Initializer::~Initializer() = default;
Regularizer::~Regularizer() = default;
Constraint::~Constraint() = default;
Loss::~Loss() = default;
Metric::~Metric() = default;
Schedule::~Schedule() = default;
Optimizer::~Optimizer() = default;

void Loss::describe_options(Schema<Loss>& s) {
  s.field("reduction", &Loss::reduction_,
          "How the losses of samples are combined into one; null is the same as \"none\".")
      .choices({"sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none"})
      .field("name", &Loss::name_, "Name in the logs.")
      .field("dtype", &Loss::dtype_, "Dtype of the computation.")
      .not_stored();
}

Tensor apply_activation(const Ref<Activation>& activation, const Tensor& x) {
  return activation ? blaming(*activation, [&] { return (*activation)(x); }) : x;
}

Value Activation::encode_option(const Activation* activation) {
  if (!activation) return "linear";
  const Dict config = activation->get_config();
  if (config.empty()) return activation->class_name();
  return Dict{{"class_name", activation->class_name()}, {"config", config}};
}

LearningRate::LearningRate(double rate) : rate(rate) {}
LearningRate::LearningRate(const LearningRate&) = default;
LearningRate& LearningRate::operator=(const LearningRate&) = default;
LearningRate::~LearningRate() = default;

LearningRate Codec<LearningRate>::decode(const Value& value) {
  if (value.is_number()) return LearningRate(value.as_float());
  if (!value.is_dict() && !value.is_object()) fail("expected ", type(), ", got ", value);
  LearningRate rate(0.0);
  rate.schedule = get<Schedule>(value);
  return rate;
}
Value Codec<LearningRate>::encode(const LearningRate& rate) {
  return rate.schedule ? serialize(rate.schedule.get()) : Value(rate.rate);
}
std::string Codec<LearningRate>::type() { return "a number or a schedule"; }

}  // namespace crescent
