// Checks the gradients of a layer with respect to its weights and inputs, in float64.
#include "check/checked_layer.h"

namespace crescent::check {
namespace {

const char* const kGradients = "gradients";

/// Returns the name of a result without the name of the layer: "by dense_1/kernel" becomes
/// "gradient by kernel".
std::string result_name(std::string name, bool training) {
  const size_t slash = name.find('/');
  if (name.starts_with("by ") && slash != name.npos) name.erase(3, slash - 2);
  return concat("gradient ", name, training ? ", training" : "");
}

bool changes_trainable_weights(const Layer& layer, const LayerCaller& call_layer,
                               const Tensors& inputs) {
  const auto values = [&] {
    Tensors values;
    for (const Variable& weight : layer.trainable_weights())
      values.push_back(weight.value().clone());
    return values;
  };
  const Tensors weights_before = values();
  call_layer(inputs);
  return !have_same_bits(values(), weights_before);
}

/// Sets the dtype policy of new layers until its destruction.
class DefaultPolicyChange {
 public:
  explicit DefaultPolicyChange(const char* name) : previous_name_(default_policy().name) {
    set_default_policy(name);
  }
  ~DefaultPolicyChange() { set_default_policy(previous_name_); }
  DefaultPolicyChange(const DefaultPolicyChange&) = delete;

 private:
  std::string previous_name_;
};

void add_rows(CheckReport& report, const CheckedLayer& checked, bool training) {
  // Sublayers that the layer itself creates must compute in float64, too.
  const DefaultPolicyChange policy_change("float64");
  const LayerPtr layer = checked.make_built("float64");
  const Tensors inputs = with_float_dtype(checked.inputs(), DType::float64);
  const LayerCaller call_layer(*layer, training, RestoredWeights::non_trainable);
  if (changes_trainable_weights(*layer, call_layer, inputs)) {
    report.results.push_back({concat(kGradients, training ? ", training" : ""),
                              CheckOutcome::skipped,
                              "a call changes the weights that are trained"});
    return;
  }
  GradientCheckOptions options;
  options.seed = checked.checks().seed;
  const CheckReport gradient_report = check_gradient(
      [&](const Tensors& x) { return call_layer(x); }, inputs, layer->trainable_weights(), options);
  for (CheckResult result : gradient_report.results) {
    result.name = result_name(result.name, training);
    const bool is_weight = result.name.find("by input") == std::string::npos;
    const bool is_missing = result.text.find("do not depend on it") != std::string::npos;
    if (is_weight && is_missing)
      result.outcome = CheckOutcome::failed, result.text += ": it never trains";
    report.results.push_back(std::move(result));
  }
}

}  // namespace

void add_gradient_rows(CheckReport& report, const CheckedLayer& checked) {
  for (const bool training : {false, true}) {
    try {
      const auto outputs = (*checked.make_built())(checked.inputs());
      bool has_floating_output = false;
      for (const Tensor& y : outputs)
        has_floating_output = has_floating_output || is_floating(y.dtype());
      const bool has_source =
          checked.has_floating_input() || !checked.make_built()->trainable_weights().empty();
      if (!has_floating_output || !has_source) {
        report.results.push_back({kGradients, CheckOutcome::skipped, "nothing to differentiate"});
        return;
      }
      add_rows(report, checked, training);
    } catch (const Interrupted&) {
      throw;
    } catch (...) {
      report.results.push_back({result_name("", training), CheckOutcome::failed, exception_text()});
    }
  }
}

}  // namespace crescent::check
