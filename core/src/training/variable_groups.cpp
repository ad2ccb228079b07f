#include "training/variable_groups.h"

#include "training/state/training.h"

namespace crescent {
std::vector<VariableGroup> groups_of_model(Model& model) {
  VariableGroup random_group{"random", {}};
  random_group.add("order", model.shuffle_order().state());
  for (Layer* layer : model.flatten_layers())
    for (const SeedGenerator& generator : layer->seed_generators())
      random_group.add(layer->name(), generator.state());
  return {{"weights", model.weights()}, {"optimizer", model.optimizer()->state()}, random_group};
}

std::vector<VariableGroup> groups_of_run(Model& model) {
  VariableGroup metrics{"metrics", {}}, states{"states", {}};
  for (const auto& metric : model.all_metrics())
    for (const Variable& v : metric->variables()) metrics.add(metric_name(*metric), v);
  for (const Layer* layer : model.flatten_layers())
    for (const Variable& v : layer->states()) states.add(layer->name(), v);
  return {metrics, states, {"global_random", {global_random().state()}}};
}

}  // namespace crescent
