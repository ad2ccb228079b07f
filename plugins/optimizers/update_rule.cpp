#include "update_rule.h"

#include <fnmatch.h>

#include <algorithm>

namespace crescent {

using namespace ops;

namespace {

const std::vector<std::string> kRuleKeys{"pattern", "learning_rate", "weight_decay", "optional"};

double factor_in(const Dict& rule, const char* name) {
  const Value* value = rule.find(name);
  if (!value) return 1;
  if (!value->is_number() || value->as_float() < 0)
    fail("rules: expected ", name, " to be a number of at least 0, got ", *value);
  return value->as_float();
}

}  // namespace

/// Converts the option `decay` of Keras 2 to a schedule.
void UpdateRule::convert_old_decay() {
  if (old_decay_ == 0) return;
  if (learning_rate_.schedule)
    return warn("decay is left out: the learning_rate is a schedule already");
  learning_rate_.schedule =
      make<Schedule>("InverseTimeDecay", {{"initial_learning_rate", learning_rate_.rate},
                                          {"decay_steps", 1},
                                          {"decay_rate", old_decay_}});
  old_decay_ = 0;
}

void UpdateRule::configured() {
  Optimizer::configured();
  convert_old_decay();
  factors_.clear();
  if (rules_.is_null()) return;
  if (!rules_.is_list()) fail("rules: expected a list of {pattern=, ...}, got ", rules_);
  for (const Value& value : rules_.as_list()) {
    const Value* pattern = value.is_dict() ? value.as_dict().find("pattern") : nullptr;
    if (!pattern || !pattern->is_string())
      fail("rules: expected {pattern=, learning_rate=, weight_decay=}, got ", value);
    const Dict& rule = value.as_dict();
    for (const std::string& key : rule.keys())
      if (std::find(kRuleKeys.begin(), kRuleKeys.end(), key) == kRuleKeys.end())
        fail("rules: no key '", key, "'", did_you_mean(key, kRuleKeys));
    const Value* optional = rule.find("optional");
    if (optional && !optional->is_bool())
      fail("rules: expected optional to be true or false, got ", *optional);
    factors_.push_back({pattern->as_string(),
                        factor_in(rule, "learning_rate"),
                        factor_in(rule, "weight_decay"),
                        optional && optional->as_bool(),
                        {}});
  }
  for (const Variable& variable : excluded_variables_) {
    const auto rule = std::find_if(factors_.begin(), factors_.end(), [&](const Factors& factors) {
      return factors.is_exclusion() && factors.pattern == variable.path() && !factors.variable;
    });
    if (rule != factors_.end()) rule->variable = variable;
  }
}

void UpdateRule::check_patterns(const Variables& weights) const {
  for (const Factors& factors : factors_)
    if (!factors.is_optional &&
        std::none_of(weights.begin(), weights.end(),
                     [&](const Variable& weight) { return factors.fits(weight); }))
      fail_unmatched("rules", factors.pattern, weights);
}

void UpdateRule::exclude_from_weight_decay(const Variables& variables,
                                           const std::vector<std::string>& names) {
  if (built())
    fail("`exclude_from_weight_decay()` can only be configured before the optimizer is built.");
  List rules = rules_.is_null() ? List() : rules_.as_list();
  auto exclude_pattern = [&](const std::string& pattern) {
    rules.push_back(Dict{{"pattern", pattern}, {"weight_decay", 0}, {"optional", true}});
  };
  for (const Variable& variable : variables) {
    exclude_pattern(variable.path());
    excluded_variables_.push_back(variable);
  }
  for (const std::string& name : names) exclude_pattern("*" + name + "*");
  configure({{"rules", std::move(rules)}});
}

UpdateRule::Factors UpdateRule::factors_of(const Variable& variable) const {
  for (const Factors& factors : factors_)
    if (factors.fits(variable)) return factors;
  return {};
}

bool UpdateRule::Factors::is_exclusion() const { return is_optional && rate == 1 && decay == 0; }

bool UpdateRule::Factors::fits(const Variable& v) const {
  if (variable) return v == variable;
  return fnmatch(pattern.c_str(), v.path().c_str(), 0) == 0;
}

void fail_unmatched(const char* option, const std::string& pattern, const Variables& weights) {
  constexpr size_t kMaxListedPaths = 8;
  std::vector<std::string> paths;
  for (const Variable& weight : weights) paths.push_back(weight.path());
  const std::string nearest_path_hint = did_you_mean(pattern, paths);
  const size_t unlisted_count = paths.size() - std::min(paths.size(), kMaxListedPaths);
  paths.resize(paths.size() - unlisted_count);
  fail(option, ": the pattern '", pattern, "' fits no weight of the model", nearest_path_hint,
       "; there are: ", join(paths),
       unlisted_count > 0 ? concat(" and ", unlisted_count, " more") : "");
}

void UpdateRule::update(const Variable& v, const Tensor& gradient, const Tensor& rate,
                        const Tensor& step, Slots slots) {
  begin(v, step, slots);
  const Factors factors = factors_of(v);
  const Tensor own_rate = factors.rate == 1 ? rate : rate * factors.rate;
  const double decay = decay_of(v).value_or(0) * factors.decay;
  if (decay != 0) v.assign(v - v * decay * own_rate);
  rule(v, gradient, own_rate, step, slots);
}

Tensor average(const Variable& variable, const Tensor& target, double momentum) {
  const Tensor value = variable + (target - variable) * (1 - momentum);
  variable.assign(value);
  return value;
}

Tensor bias_correction(double beta, const Tensor& step) { return 1.0 - power(Tensor(beta), step); }

}  // namespace crescent
