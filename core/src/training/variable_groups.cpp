#include "training/variable_groups.h"

#include "training/state/training.h"

namespace crescent {
namespace {

/// The weights in the order of snapshots, which have the trainable ones first.
Variables trainable_first(const Model& model) {
  Variables weights = model.trainable_weights();
  for (const Variable& weight : model.non_trainable_weights()) weights.push_back(weight);
  return weights;
}

}  // namespace

std::vector<VariableGroup> groups_of_model(Model& model) {
  VariableGroup random_group{"random", {}};
  random_group.add("order", model.shuffle_order().state());
  for (Layer* layer : model.flatten_layers())
    for (const SeedGenerator& seeds : layer->seed_generators())
      random_group.add(layer->name(), seeds.state());
  return {
      {"weights", trainable_first(model)}, {"optimizer", model.optimizer()->state()}, random_group};
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
