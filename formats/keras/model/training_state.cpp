#include "keras/model/training_state.h"

#include "crescent/ops.h"
#include "keras/model/optimizer_layout.h"
#include "keras/weights/turned_kernels.h"

namespace crescent::keras {
namespace {

constexpr const char* kOptimizer = "optimizer_weights";
constexpr const char* kRandom = "crescent_random";

/// Every generator of every layer, in the order of the layers.
Variables random_states(Model& model) {
  Variables states{model.shuffle_order().state()};
  for (Layer* layer : model.flatten_layers())
    for (const SeedGenerator& seeds : layer->seed_generators()) states.push_back(seeds.state());
  return states;
}

std::string random_path(size_t i) { return concat(kRandom, "/", i); }

bool fits(WeightSource& file, const Matches& matches) {
  const std::vector<TensorSpec> specs = file.describe(datasets_of(matches));
  for (size_t i = 0; i < matches.size(); ++i)
    if (specs[i].shape != matches[i].variable.shape()) return false;
  return true;
}

}  // namespace

void write_optimizer(Entries& entries, Model& model, const std::string& target) {
  const Optimizer& optimizer = *model.optimizer();
  if (!optimizer.built()) return;
  const StateLayout layout = optimizer_layout(optimizer, model.trainable_weights(), target);
  const std::vector<std::string> names = layout_names(optimizer, layout, target);
  entries.push_back({kOptimizer, {{"weight_names", names}}});
  for (size_t i = 0; i < layout.size(); ++i) {
    const auto& [variable, slot, spec, owner] = layout[i];
    entries.push_back({std::string(kOptimizer) + "/" + names[i],
                       {},
                       variable ? ops::cast(variable.value(), spec.dtype) : Tensor(spec)});
  }
}

Matches match_optimizer(WeightSource& file, Model& model, const Origin& origin) {
  const auto names = file.texts(kOptimizer, "weight_names");
  if (!names || names->empty()) return {};
  model.optimizer()->build(model.trainable_weights());
  Names datasets;
  for (const std::string& name : *names) datasets.push_back(std::string(kOptimizer) + "/" + name);
  const PlacedState state = place_optimizer_state(*model.optimizer(), model.trainable_weights(),
                                                  *names, file.describe(datasets));
  if (!state.problem.empty()) {
    warn(
        "'", file.path(),
        "': Error in loading the saved optimizer state. As a result, your model is starting with a "
        "freshly initialized optimizer: ",
        state.problem);
    return {};
  }
  const TurnedKernels turned(model, origin);
  Matches matches;
  for (size_t i = 0; i < datasets.size(); ++i)
    if (const StatePlace& place = state.layout[i]; place.variable)
      matches.push_back({datasets[i], place.variable, turned.convert(place.owner), "optimizer"});
  return matches;
}

void write_random_state(Entries& entries, Model& model) {
  Variables states = random_states(model);
  entries.push_back({kRandom, {{"count", static_cast<int64_t>(states.size())}}});
  for (size_t i = 0; i < states.size(); ++i)
    entries.push_back({random_path(i), {}, states[i].value()});
}

Matches match_random_state(WeightSource& file, Model& model) {
  const auto count = file.integer(kRandom, "count");
  Variables states = random_states(model);
  if (!count) return {};
  Matches matches;
  for (size_t i = 0; i < states.size(); ++i)
    matches.push_back({random_path(i), states[i], nullptr, "random state"});
  if (*count == static_cast<int64_t>(states.size()) && fits(file, matches)) return matches;
  warn("'", file.path(),
       "': the saved random state is of another model; random numbers start anew.");
  return {};
}

}  // namespace crescent::keras
