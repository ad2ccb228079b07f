#include "keras/model/kept_state.h"

namespace crescent::keras {
namespace {

/// Variables under numbered names in a group of their own.
struct Kept {
  const char *group, *what, *otherwise;
  Variables variables;
};

/// Every generator of every layer, in the order of the layers.
Kept random_states(Model& model) {
  Variables states{model.shuffle_order().state()};
  for (Layer* layer : model.flatten_layers())
    for (const SeedGenerator& seeds : layer->seed_generators()) states.push_back(seeds.state());
  return {"crescent_random", "random state", "random numbers start anew.", states};
}

Kept layer_states(Model& model) {
  Variables states;
  for (const Layer* layer : model.flatten_layers())
    for (const Variable& state : layer->states()) states.push_back(state);
  return {"crescent_states", "state of stateful layers", "they start with zeros.", states};
}

std::string path_of(const Kept& kept, size_t i) { return concat(kept.group, "/", i); }

void write(Entries& entries, const Kept& kept) {
  entries.push_back({kept.group, {{"count", static_cast<int64_t>(kept.variables.size())}}});
  for (size_t i = 0; i < kept.variables.size(); ++i)
    entries.push_back({path_of(kept, i), {}, kept.variables[i].value()});
}

bool fits(WeightSource& file, const Matches& matches) {
  const std::vector<TensorSpec> specs = file.describe(datasets_of(matches));
  for (size_t i = 0; i < matches.size(); ++i)
    if (specs[i].shape != matches[i].variable.shape()) return false;
  return true;
}

Matches match(WeightSource& file, const Kept& kept) {
  const auto count = file.integer(kept.group, "count");
  if (!count) return {};
  Matches matches;
  for (size_t i = 0; i < kept.variables.size(); ++i)
    matches.push_back({path_of(kept, i), kept.variables[i], nullptr, kept.what});
  if (*count == static_cast<int64_t>(matches.size()) && fits(file, matches)) return matches;
  warn("'", file.path(), "': the saved ", kept.what, " is of another model; ", kept.otherwise);
  return {};
}

}  // namespace

void write_kept_state(Entries& entries, Model& model) {
  write(entries, random_states(model));
  if (const Kept states = layer_states(model); !states.variables.empty()) write(entries, states);
}

Matches match_kept_state(WeightSource& file, Model& model) {
  Matches matches = match(file, random_states(model));
  append(matches, match(file, layer_states(model)));
  return matches;
}

}  // namespace crescent::keras
