// MultiOptimizer: several optimizers for one model, chosen by the paths of weights.
#include <algorithm>

#include "crescent/base/pattern.h"
#include "crescent/layer/optimizer.h"
#include "crescent/registry/registration.h"
#include "update_rule.h"

namespace crescent {
namespace {

using OptimizerPtr = std::shared_ptr<Optimizer>;

/// The mapping of weights to optimizers.
class OptimizerMap final : public Plain {
 public:
  static constexpr const char* kKind = Optimizer::kKind;
  static void describe(Schema<OptimizerMap>& s) {
    s.doc("Optimizers by regular expressions that match the whole path of a weight.")
        .field("default_optimizer", &OptimizerMap::default_optimizer_,
               "Optimizer of weights that no pattern matches.")
        .required()
        .field("optimizer_map", &OptimizerMap::map_option_, "A table {pattern = optimizer}.");
  }
  void configured() override {
    rules_.clear();
    if (map_option_.is_null()) return;
    if (!map_option_.is_dict()) fail("optimizer_map must be a dictionary. Received: ", map_option_);
    for (const DictEntry& entry : map_option_.as_dict())
      rules_.push_back(
          {entry.key, Pattern(entry.key, "optimizer_map"), get<Optimizer>(entry.value)});
  }
  Dict get_config() const override {
    Dict map;
    for (const OptimizerRule& rule : rules_) map.set(rule.text, serialize(rule.optimizer.get()));
    return {{"default_optimizer", serialize(default_optimizer_.get())},
            {"optimizer_map", std::move(map)}};
  }
  const OptimizerPtr& find(const std::string& path) const {
    const OptimizerRule* matching_rule = nullptr;
    for (const OptimizerRule& rule : rules_) {
      if (rule.text == path) return rule.optimizer;
      if (!rule.pattern.matches(path)) continue;
      if (matching_rule) fail("Multiple optimizers assigned to variable ", path, ".");
      matching_rule = &rule;
    }
    return matching_rule ? matching_rule->optimizer : default_optimizer_.shared();
  }
  void check_patterns(const Variables& weights) const {
    for (const OptimizerRule& rule : rules_)
      if (std::none_of(weights.begin(), weights.end(),
                       [&](const Variable& weight) { return rule.applies_to(weight.path()); }))
        fail_unmatched("optimizer_map", rule.text, weights);
  }
  /// All optimizers of the map, each once.
  std::vector<OptimizerPtr> distinct_optimizers() const {
    std::vector<OptimizerPtr> result;
    auto add = [&](const OptimizerPtr& optimizer) {
      if (!optimizer) fail("OptimizerMap: expected an optimizer, got none");
      if (std::find(result.begin(), result.end(), optimizer) == result.end())
        result.push_back(optimizer);
    };
    for (const OptimizerRule& rule : rules_) add(rule.optimizer);
    add(default_optimizer_.shared());
    return result;
  }

 private:
  struct OptimizerRule {
    std::string text;
    Pattern pattern;
    OptimizerPtr optimizer;
    bool applies_to(const std::string& path) const { return text == path || pattern.matches(path); }
  };

  Ref<Optimizer> default_optimizer_;
  Value map_option_;
  std::vector<OptimizerRule> rules_;
};

class MultiOptimizer final : public Optimizer {
 public:
  MultiOptimizer() { learning_rate_ = 0.0; }
  static void describe(Schema<MultiOptimizer>& s) {
    s.doc("Updates each weight by one of several optimizers.")
        .field("optimizer_map", &MultiOptimizer::optimizer_map_, "An OptimizerMap.")
        .required()
        .property("optimizers", &MultiOptimizer::optimizers, "The optimizers that are used.");
  }
  void configured() override {
    if (weight_decay_ || clipnorm_ || global_clipnorm_ || clipvalue_ || use_ema_ ||
        gradient_accumulation_steps_)
      fail(
          "MultiOptimizer leaves updates to its optimizers: give clipping, decay, averages and "
          "accumulation to those");
    if (!optimizer_map_) fail("expected an optimizer_map, got none");
    optimizers_ = optimizer_map_->distinct_optimizers();
    for (const OptimizerPtr& optimizer : optimizers_) {
      const std::string name = optimizer->class_name();
      if (name == "LossScaleOptimizer" || name == "MultiOptimizer")
        fail(name, " cannot be used inside a MultiOptimizer.");
      optimizer->configure(
          {{"loss_scale_factor", loss_scale_factor_ ? Value(*loss_scale_factor_) : Value()}});
    }
  }
  void check_patterns(const Variables& weights) const override {
    optimizer_map_->check_patterns(weights);
    for (size_t i = 0; i < optimizers_.size(); ++i)
      optimizers_[i]->check_patterns(variables_of(weights, i));
  }
  void build(const Variables& variables) override {
    for (size_t i = 0; i < optimizers_.size(); ++i)
      if (const Variables weights = variables_of(variables, i); !weights.empty())
        optimizers_[i]->build(weights);
    Optimizer::build(variables);
  }
  void apply(std::span<const Tensor> gradients, const Variables& variables) override {
    Transaction transaction;
    include(variables);
    for (size_t i = 0; i < optimizers_.size(); ++i) {
      Variables optimizer_variables;
      Tensors optimizer_gradients;
      for (size_t k = 0; k < variables.size(); ++k) {
        if (optimizer_map_->find(variables[k].path()) != optimizers_[i] || !gradients[k]) continue;
        optimizer_variables.push_back(variables[k]);
        optimizer_gradients.push_back(gradients[k]);
      }
      if (!optimizer_variables.empty())
        optimizers_[i]->apply(optimizer_gradients, optimizer_variables);
    }
    iterations().assign(iterations().value() + 1);
    transaction.commit();
  }
  Variable learning_rate() const override { fail_rate("accessed", "Access"); }
  void set_learning_rate(LearningRate) override { fail_rate("set", "Set"); }
  std::vector<std::pair<Variable, Variable>> pairs_with(std::string_view slot) const override {
    std::vector<std::pair<Variable, Variable>> pairs;
    for (const OptimizerPtr& optimizer : optimizers_)
      for (const auto& pair : optimizer->pairs_with(slot)) pairs.push_back(pair);
    return pairs;
  }
  /// The state: the number of iterations, a learning rate, which is always 0, then the state of
  /// each optimizer.
  Variables state() const override {
    Variables state{iterations(), Optimizer::learning_rate()};
    for (const OptimizerPtr& optimizer : optimizers_)
      if (optimizer->built())
        for (const Variable& v : optimizer->state()) state.push_back(v);
    return state;
  }

 protected:
  void update(const Variable&, const Tensor&, const Tensor&, const Tensor&, Slots) override {}

 private:
  std::vector<OptimizerPtr> optimizers() const { return optimizers_; }
  Variables variables_of(const Variables& variables, size_t i) const {
    Variables optimizer_variables;
    for (const Variable& v : variables)
      if (optimizer_map_->find(v.path()) == optimizers_[i]) optimizer_variables.push_back(v);
    return optimizer_variables;
  }
  [[noreturn]] static void fail_rate(const char* participle, const char* imperative) {
    fail("Learning rate cannot be ", participle, " on a MultiOptimizer. ", imperative,
         " the learning rate on the individual sub-optimizers instead.");
  }

  Ref<OptimizerMap> optimizer_map_;
  std::vector<OptimizerPtr> optimizers_;
};

}  // namespace

CRESCENT_REGISTER(multi) {
  registry.add<OptimizerMap>("OptimizerMap");
  registry.add<MultiOptimizer>("MultiOptimizer");
}

}  // namespace crescent
