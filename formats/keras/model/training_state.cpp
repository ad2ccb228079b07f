#include "keras/model/training_state.h"

namespace crescent::keras {
namespace {

constexpr const char* kOptimizer = "optimizer_weights";

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
    entries.push_back({concat(kOptimizer, "/", names[i]), {}, state[i].value()});
}

std::vector<std::string> numbered_names(const std::string& prefix, const Variables& state) {
  std::vector<std::string> names;
  for (size_t i = 0; i < state.size(); ++i)
    names.push_back(concat(prefix, "/", state[i].name(), "_", i, ":0"));
  return names;
}

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
    matches.push_back({concat(kOptimizer, "/", (*names)[i]), state[i], nullptr, "optimizer"});
  if (count_fits && fits(file, matches)) return matches;
  warn("'", file.path(),
       "': Error in loading the saved optimizer state. As a result, your model is starting with a "
       "freshly initialized optimizer.");
  return {};
}

}  // namespace crescent::keras
