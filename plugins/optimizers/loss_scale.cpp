// Loss scaling for training with float16: the loss is multiplied by a scale so that small gradients
// do not become 0.
#include "crescent/layer/optimizer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

using namespace ops;

/// As in Keras 3, doubles the scale after a certain number of steps with finite gradients; if a
/// gradient is not finite, halves the scale and skips the step.
class LossScaleOptimizer final : public Optimizer {
 public:
  static void describe(Schema<LossScaleOptimizer>& s) {
    s.doc(
         "Scales the loss dynamically, so that gradients in float16 neither overflow nor vanish; "
         "for mixed_float16.")
        .field("inner_optimizer", &LossScaleOptimizer::inner_optimizer_,
               "The optimizer that updates the weights.")
        .required()
        .field("initial_scale", &LossScaleOptimizer::initial_scale_, "Initial scale.")
        .min(1)
        .field("dynamic_growth_steps", &LossScaleOptimizer::dynamic_growth_steps_,
               "Number of steps with finite gradients after which the scale doubles.")
        .min(1)
        .field("dynamic", &LossScaleOptimizer::dynamic_,
               "Only true is allowed; a constant scale is loss_scale_factor of another optimizer.")
        .not_stored()
        .property("inner_optimizer", &LossScaleOptimizer::shared_inner_optimizer,
                  "The optimizer that updates the weights.")
        .property("dynamic_scale", &LossScaleOptimizer::scale_, "The current scale.");
  }

  /// Removes the option loss_scale_factor of the inner optimizer, as in Keras, because gradients
  /// are divided by one scale only.
  void configured() override {
    Optimizer::configured();
    if (weight_decay_ || clipnorm_ || global_clipnorm_ || clipvalue_ || loss_scale_factor_ ||
        use_ema_ || ema_overwrite_frequency_ || gradient_accumulation_steps_)
      fail(
          "LossScaleOptimizer leaves updates to its inner_optimizer: give clipping, decay, "
          "averages and accumulation to that");
    if (!dynamic_)
      fail(
          "dynamic: expected true, got false; for a constant scale give loss_scale_factor to an "
          "optimizer such as Adam");
    const Dict config = inner_optimizer().get_config();
    const Value* factor = config.find("loss_scale_factor");
    if (factor && !factor->is_null()) inner_optimizer().configure({{"loss_scale_factor", Value()}});
  }
  void check_patterns(const Variables& weights) const override {
    inner_optimizer().check_patterns(weights);
  }
  void build(const Variables& variables) override {
    if (!built()) scale_.assign(Tensor(initial_scale_));
    inner_optimizer().build(variables);
    Optimizer::build(variables);
  }

  Tensor scale_loss(const Tensor& loss) const override {
    const Tensor scale = built() ? scale_.value() : Tensor(initial_scale_);
    return loss * cast(scale, loss.dtype());
  }

  void apply(std::span<const Tensor> gradients, const Variables& variables) override {
    Transaction transaction;
    include(variables);
    const Tensor scale = scale_.value(), count = step_counter_.value();
    Tensors unscaled;
    Tensor is_finite = Tensor::scalar(1, DType::boolean);
    for (size_t i = 0; i < gradients.size(); ++i) {
      const Tensor& g = gradients[i];
      if (g) is_finite = logical_and(is_finite, all(isfinite(g)));
      unscaled.push_back(g && i < variables.size()
                             ? cast(g, variables[i].dtype()) / cast(scale, variables[i].dtype())
                             : g);
    }
    Variables changed_variables = variables;
    for (const Variable& v : inner_optimizer().state()) changed_variables.push_back(v);
    ConditionalUpdate update(is_finite, changed_variables);
    inner_optimizer().apply(unscaled, variables);
    update.finish();
    const Tensor is_growing = greater_equal(count + 1, dynamic_growth_steps_);
    step_counter_.assign(
        where(logical_and(is_finite, logical_not(is_growing)), count + 1, zeros_like(count)));
    scale_.assign(where(is_finite, where(is_growing, scale * 2, scale), scale / 2));
    transaction.commit();
  }

  Variable iterations() const override { return inner_optimizer().iterations(); }
  Variable learning_rate() const override { return inner_optimizer().learning_rate(); }
  void set_learning_rate(LearningRate rate) override {
    inner_optimizer().set_learning_rate(std::move(rate));
  }
  std::vector<std::pair<Variable, Variable>> pairs_with(std::string_view slot) const override {
    return inner_optimizer().pairs_with(slot);
  }
  std::vector<std::string> slot_names() const override { return inner_optimizer().slot_names(); }
  /// The state: that of the inner optimizer, then the number of finite steps and the scale.
  Variables state() const override {
    Variables state = inner_optimizer().state();
    state.push_back(step_counter_), state.push_back(scale_);
    return state;
  }

 protected:
  void update(const Variable&, const Tensor&, const Tensor&, const Tensor&, Slots) override {}

 private:
  Optimizer& inner_optimizer() const {
    if (!inner_optimizer_) fail("expected an inner_optimizer, got none");
    return *inner_optimizer_;
  }
  std::shared_ptr<Optimizer> shared_inner_optimizer() const { return inner_optimizer_.shared(); }
  static Variable scalar(const char* name, const Tensor& value) {
    Variable::Options options;
    options.name = name, options.trainable = false;
    return Variable(value, options);
  }

  Ref<Optimizer> inner_optimizer_;
  double initial_scale_ = 32768;
  int64_t dynamic_growth_steps_ = 2000;
  bool dynamic_ = true;
  Variable step_counter_ = scalar("step_counter", Tensor(Shape{}, DType::int32)),
           scale_ = scalar("dynamic_scale", Tensor::scalar(1));
};

}  // namespace

CRESCENT_REGISTER(loss_scale) { registry.add<LossScaleOptimizer>("LossScaleOptimizer"); }

}  // namespace crescent
