#include "keras/model/training_state.h"

namespace crescent::keras {
namespace {

constexpr const char* kOptimizer = "optimizer_weights";
constexpr const char* kRandom = "crescent_random";

/// Keras 2's order: the step, then slot for slot all variables.
Variables slots_together(const Optimizer& optimizer) {
  Variables state{optimizer.iterations()};
  for (const std::string& slot : optimizer.slot_names())
    for (const Variable& variable : optimizer.slot(slot)) state.push_back(variable);
  return state;
}

void write_state(Entries& entries, const Variables& state, const std::vector<std::string>& names) {
  entries.push_back({kOptimizer, {{"weight_names", names}}});
  for (size_t i = 0; i < state.size(); ++i)
    entries.push_back({std::string(kOptimizer) + "/" + names[i], {}, state[i].value()});
}

std::vector<std::string> numbered_names(const std::string& prefix, const Variables& state) {
  std::vector<std::string> names;
  for (size_t i = 0; i < state.size(); ++i)
    names.push_back(concat(prefix, "/", state[i].name(), "_", i, ":0"));
  return names;
}

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

void write_optimizer(Entries& entries, const Optimizer& optimizer, const std::string& target) {
  if (!optimizer.built()) return;
  bool keras2 = target == "keras2";
  Variables state = keras2 ? slots_together(optimizer) : optimizer.state();
  std::string prefix =
      keras2 ? "training/" + optimizer.class_name() : to_snake_case(optimizer.class_name());
  auto names = numbered_names(prefix, state);
  if (keras2)
    names[0] = optimizer.class_name() + "/iterations:0";
  else
    names[0] = prefix + "/iteration", names[1] = prefix + "/learning_rate";
  write_state(entries, state, names);
}

Matches match_optimizer(WeightSource& file, const Optimizer& optimizer) {
  auto names = file.texts(kOptimizer, "weight_names");
  if (!names || names->empty()) return {};
  bool with_rate = names->size() > 1 && (*names)[1].find("learning_rate") !=
                                            std::string::npos;  // Keras 3, tf.keras 2.11
  Variables state = with_rate ? optimizer.state() : slots_together(optimizer);
  // Keras 2 also stores slots that are switched off: momenta of plain SGD, vhat of Adam.
  bool count_fits = with_rate ? names->size() == state.size() : names->size() >= state.size();
  Matches matches;
  for (size_t i = 0; count_fits && i < state.size(); ++i)
    matches.push_back(
        {std::string(kOptimizer) + "/" + (*names)[i], state[i], nullptr, "optimizer"});
  if (count_fits && fits(file, matches)) return matches;
  warn("'", file.path(),
       "': Error in loading the saved optimizer state. As a result, your model is starting with a "
       "freshly initialized optimizer.");
  return {};
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
