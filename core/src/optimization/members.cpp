// Declares the methods and properties that every loss, metric and optimizer has in Lua besides its
// options. Help texts list them too.
#include <algorithm>

#include "crescent/layer/training.h"

namespace crescent {
namespace {

/// The name of a metric in the logs of a run.
std::string name_in_logs(const Metric& metric) {
  return metric.name().empty() ? to_snake_case(metric.class_name()) : metric.name();
}

/// The dtype of a metric's state: the option dtype if given; otherwise, as in Keras, the dtype of
/// an integer counter or floatx().
DType dtype_of_state(const Metric& metric) {
  const Variables state = metric.variables();
  const bool is_counter = !state.empty() && is_integer(state.front().dtype());
  return metric.dtype().value_or(is_counter ? state.front().dtype() : floatx());
}

/// The number of updates of the weights so far. The variable `iterations` of an optimizer counts
/// batches; with gradient accumulation, the weights are updated once in gradient_accumulation_steps
/// batches.
Value update_count(const Optimizer& optimizer) {
  const Dict config = optimizer.get_config();
  if (const auto inner_optimizer =
          config.find("inner_optimizer")
              ? optimizer.get_property("inner_optimizer").object_as<Optimizer>()
              : nullptr)
    return update_count(*inner_optimizer);
  const Value* accumulation_steps = config.find("gradient_accumulation_steps");
  return accumulation_steps && accumulation_steps->is_int()
             ? Codec<Tensor>::encode(
                   ops::floor_divide(optimizer.iterations().value(), accumulation_steps->as_int()))
             : Codec<Variable>::encode(optimizer.iterations());
}

/// Overwrites the weights by their moving averages, as at the end of a training that computes
/// averages.
void finalize_variable_values(Optimizer& optimizer, const Variables& variables) {
  for (const auto& [weight, average] : optimizer.pairs_with("average"))
    if (std::find(variables.begin(), variables.end(), weight) != variables.end())
      weight.assign(average.value());
}

}  // namespace

void Loss::describe_members(Schema<Loss>& s) {
  s.property("name", &Loss::name, "The name in the logs.");
}

void Metric::describe_members(Schema<Metric>& s) {
  s.property("name", name_in_logs, &Metric::set_name, "The name in the logs.")
      .property("variables", &Metric::variables, "The state variables.")
      .property("dtype", dtype_of_state, "Dtype of the state.")
      .method("result", &Metric::result, "The current value of the metric.")
      .method("reset_state", &Metric::reset_state, "Resets the states.")
      .method("reset_states", &Metric::reset_state, "Resets the states.");
}

void Optimizer::describe_members(Schema<Optimizer>& s) {
  s.property("name", &Optimizer::name, "The name in files.")
      .property("iterations", update_count, "The number of updates so far.")
      .property("variables", &Optimizer::state, "The state variables.")
      .property("weights", &Optimizer::state, "The same as variables.")
      .property(
          "trainable_variables", [](const Optimizer& optimizer) { return optimizer.variables_; },
          "The variables with which the optimizer was built.")
      .property("built", &Optimizer::built, "Whether the state has been created.")
      .method("build", &Optimizer::build, "Creates the state for these variables.")
      .arg("variables", "The variables to update.")
      .method("finalize_variable_values", finalize_variable_values,
              "With use_ema: assigns the averages to the variables, as fit does at its end.")
      .arg("variables", "The variables to assign.");
}

}  // namespace crescent
