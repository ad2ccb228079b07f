#include "keras/model/state_groups.h"

namespace crescent::keras {
namespace {

/// A group of a file that stores the variables as datasets named "0", "1", ...; `contents` and
/// `consequence` are parts of the warning if they do not fit.
struct StateGroup {
  const char *path, *contents, *consequence;
  Variables variables;
};

/// The state of the order of samples, and of all random generators of all layers, in the order of
/// layers.
StateGroup random_states(Model& model) {
  Variables states{model.shuffle_order().state()};
  for (Layer* layer : model.flatten_layers())
    for (const SeedGenerator& seeds : layer->seed_generators()) states.push_back(seeds.state());
  return {"crescent_random", "random state", "random numbers start anew.", states};
}

StateGroup layer_states(Model& model) {
  Variables states;
  for (const Layer* layer : model.flatten_layers())
    for (const Variable& state : layer->states()) states.push_back(state);
  return {"crescent_states", "state of stateful layers", "they start with zeros.", states};
}

std::string path_of(const StateGroup& group, size_t i) { return concat(group.path, "/", i); }

void write_state_group(Entries& entries, const StateGroup& group) {
  entries.push_back({group.path, {{"count", static_cast<int64_t>(group.variables.size())}}});
  for (size_t i = 0; i < group.variables.size(); ++i)
    entries.push_back({path_of(group, i), {}, group.variables[i].value()});
}

bool shapes_fit(WeightSource& file, const Matches& matches) {
  const std::vector<TensorSpec> specs = file.describe(datasets_of(matches));
  for (size_t i = 0; i < matches.size(); ++i)
    if (specs[i].shape != matches[i].variable.shape()) return false;
  return true;
}

Matches match_state_group(WeightSource& file, const StateGroup& group) {
  const auto count = file.integer(group.path, "count");
  if (!count) return {};
  Matches matches;
  for (size_t i = 0; i < group.variables.size(); ++i)
    matches.push_back({path_of(group, i), group.variables[i], nullptr, group.contents});
  if (*count == static_cast<int64_t>(matches.size()) && shapes_fit(file, matches)) return matches;
  warn("'", file.path(), "': the saved ", group.contents, " is of another model; ",
       group.consequence);
  return {};
}

}  // namespace

void write_state_groups(Entries& entries, Model& model) {
  write_state_group(entries, random_states(model));
  if (const StateGroup states = layer_states(model); !states.variables.empty())
    write_state_group(entries, states);
}

Matches match_state_groups(WeightSource& file, Model& model) {
  Matches matches = match_state_group(file, random_states(model));
  append(matches, match_state_group(file, layer_states(model)));
  return matches;
}

}  // namespace crescent::keras
