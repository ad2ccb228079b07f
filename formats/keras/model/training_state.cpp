#include "keras/model/training_state.h"

#include <algorithm>
#include <map>
#include <set>

#include "crescent/ops/ops.h"
#include "keras/model/optimizer_layout.h"
#include "keras/vocabulary/objects.h"
#include "keras/weights/flipped_kernels.h"
#include "keras/weights/keras2_weights.h"
#include "keras/weights/keras3_weights.h"

namespace crescent::keras {
namespace {

constexpr const char* kOptimizerWeights = "optimizer_weights";

Names numbers_below(size_t count) {
  Names numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

void write_layout(Entries& entries, const StateLayout& layout, const std::string& group,
                  const Names& names) {
  for (size_t i = 0; i < layout.size(); ++i) {
    const auto& [variable, slot, spec, owner, number] = layout[i];
    entries.push_back({group + "/" + names[i],
                       {},
                       variable ? ops::cast(variable.value(), spec.dtype)
                                : Tensor::full(spec.shape, number, spec.dtype)});
  }
}

// pairs of a weight and its slot variable
using Slots = std::vector<std::pair<Variable, Variable>>;

/// All slots of an optimizer by name.
std::map<std::string, Slots> slots_of(const Optimizer& optimizer) {
  std::map<std::string, Slots> slots;
  std::vector<std::string> names = optimizer.slot_names();
  names.insert(names.end(), {"average", "gradient_accumulator"});
  for (const std::string& name : names) slots[name] = optimizer.pairs_with(name);
  return slots;
}

/// Whether the slots belong to exactly the variables `trained_variables`. This is not so if weights
/// were frozen, merged or added since the optimizer was last used.
bool belong_to(const std::map<std::string, Slots>& slots, const Variables& trained_variables) {
  std::set<const void*> trained_ids, owner_ids;
  for (const Variable& weight : trained_variables) trained_ids.insert(weight.id());
  for (const auto& [name, pairs] : slots)
    for (const auto& [weight, slot] : pairs) owner_ids.insert(weight.id());
  return owner_ids.empty() || owner_ids == trained_ids;
}

/// The variables of the optimizer that belong to no weight, such as its iterations, in order.
Variables scalars_of(const Optimizer& optimizer) {
  std::set<const void*> slot_ids;
  for (const auto& [name, pairs] : slots_of(optimizer))
    for (const auto& [weight, slot] : pairs) slot_ids.insert(slot.id());
  Variables scalars = optimizer.state();
  std::erase_if(scalars,
                [&](const Variable& variable) { return slot_ids.contains(variable.id()); });
  return scalars;
}

/// Returns the optimizer of a model if it was built for the weights that the model trains now, else
/// a copy that is built for these weights: it has the slots of weights that the optimizer knows,
/// and initial values for the slots of other weights.
std::shared_ptr<Optimizer> optimizer_for(const Model& model, const Variables& trained_variables) {
  const std::shared_ptr<Optimizer> optimizer = model.optimizer();
  const auto slots = slots_of(*optimizer);
  if (belong_to(slots, trained_variables)) return optimizer;
  const auto new_optimizer = get<Optimizer>(serialize(optimizer.get()));
  new_optimizer->build(trained_variables);
  for (const auto& [name, pairs] : slots_of(*new_optimizer))
    for (const auto& [weight, slot] : pairs)
      for (const auto& [old_weight, value] : slots.at(name))
        if (old_weight == weight) slot.assign(value.value());
  const Variables new_scalars = scalars_of(*new_optimizer), old_scalars = scalars_of(*optimizer);
  for (size_t i = 0; i < std::min(new_scalars.size(), old_scalars.size()); ++i)
    new_scalars[i].assign(old_scalars[i].value());
  return new_optimizer;
}

/// The name of an optimizer's configuration, or that of its class in snake case.
std::string name_in_file(const Value& optimizer) {
  const Dict config = config_of(optimizer.as_dict());
  const std::string* name = text_at(config, "name");
  return name && !name->empty() ? *name : to_snake_case(class_of(optimizer));
}

/// The attribute with the number of arrays, which shows whether one is missing. Keras ignores it.
constexpr const char* kCountAttribute = "crescent_count";

/// The entries of an optimizer's state in a file: the path of their group, and their names.
struct SavedState {
  std::string group;
  Names names;
};

SavedState saved_state(WeightSource& file) {
  if (auto names = file.texts(kOptimizerWeights, "weight_names"))
    return {kOptimizerWeights, std::move(*names)};
  const auto members = file.members(kOptimizerGroup);
  if (!members) return {};
  const auto count = file.integer(kOptimizerGroup, kCountAttribute);
  return {kOptimizerGroup, numbers_below(count ? static_cast<size_t>(*count) : members->size())};
}

bool has_same_shape(const TensorSpec& spec, const StateEntry& state_entry) {
  return spec.shape == state_entry.spec.shape;
}

bool is_layout_of(const std::vector<TensorSpec>& specs, const StateLayout& layout) {
  return std::equal(specs.begin(), specs.end(), layout.begin(), layout.end(), has_same_shape);
}

/// The name that Keras gives to the variable of a match: "dense_1/kernel:0" for the dataset
/// "model_weights/dense_1/dense_1/kernel:0".
std::string keras_name(const Match& match, const std::string& root) {
  const size_t layer_start = root.empty() ? 0 : root.size() + 1;
  return match.dataset.substr(match.dataset.find('/', layer_start) + 1);
}

/// The trained weights in the order of the file, which depends on the version of Keras that wrote
/// it.
Variables in_order_of(const Origin& origin, Variables trained_variables, const Matches& weights,
                      WeightSource& file) {
  if (!origin.sorts_trained_by_name()) return trained_variables;
  const std::string root = find_weights(file);
  const auto name = [&](const Variable& variable) {
    const auto found = std::find_if(weights.begin(), weights.end(),
                                    [&](const Match& match) { return match.variable == variable; });
    return found == weights.end() ? variable.path() : keras_name(*found, root);
  };
  std::stable_sort(trained_variables.begin(), trained_variables.end(),
                   [&](const Variable& a, const Variable& b) { return name(a) < name(b); });
  return trained_variables;
}

/// Whether the entries are those of an optimizer of Keras 3 before its first step, which has
/// scalars but no slots.
bool is_untrained(const std::vector<TensorSpec>& specs, const StateLayout& layout) {
  const auto slots = std::find_if(layout.begin(), layout.end(), [](const StateEntry& state_entry) {
    return bool(state_entry.owner);
  });
  return slots != layout.end() &&
         std::equal(specs.begin(), specs.end(), layout.begin(), slots, has_same_shape);
}

}  // namespace

void write_optimizer(Entries& entries, Model& model, const std::string& target_generation) {
  if (!model.optimizer()->built()) return;
  const Variables trained_variables = model.trainable_weights();
  const auto used_optimizer = optimizer_for(model, trained_variables);
  const Optimizer& optimizer = *used_optimizer;
  const StateLayout layout = optimizer_layout(optimizer, trained_variables, target_generation);
  const Names names = layout_names(optimizer, layout, target_generation);
  entries.push_back({kOptimizerWeights, {{"weight_names", names}}});
  write_layout(entries, layout, kOptimizerWeights, names);
}

void write_keras3_optimizer(Entries& entries, Model& model) {
  if (!model.optimizer()->built()) return;
  const Variables trained_variables = model.trainable_weights();
  const auto used_optimizer = optimizer_for(model, trained_variables);
  const Optimizer& optimizer = *used_optimizer;
  const auto write = [&](const StateLayout& layout, const char* group, const std::string& name) {
    entries.push_back(
        {group, {{"name", name}, {kCountAttribute, static_cast<int64_t>(layout.size())}}});
    write_layout(entries, layout, group, numbers_below(layout.size()));
  };
  const Value optimizer_object = serialize(&optimizer);
  write(optimizer_layout(optimizer, trained_variables, "keras3"), kOptimizerGroup,
        name_in_file(optimizer_object));
  const StateLayout inner_layout = inner_optimizer_layout(optimizer, trained_variables);
  if (!inner_layout.empty())
    write(inner_layout, kInnerOptimizerGroup,
          name_in_file(config_of(optimizer_object.as_dict()).at("inner_optimizer")));
}

Matches match_optimizer(WeightSource& file, Model& model, const Matches& weights,
                        const Origin& origin, bool are_options_known) {
  const auto [group, names] = saved_state(file);
  if (names.empty()) return {};
  const Variables trained_variables = model.trainable_weights();
  model.optimizer()->build(trained_variables);
  Names datasets;
  for (const std::string& name : names) datasets.push_back(group + "/" + name);
  const std::vector<TensorSpec> specs = file.describe(datasets);
  const StateLayout keras3 = optimizer_layout(*model.optimizer(), trained_variables, "keras3");
  MatchedState state =
      is_untrained(specs, keras3)
          ? MatchedState{keras3, ""}
          : match_optimizer_state(*model.optimizer(), trained_variables,
                                  in_order_of(origin, trained_variables, weights, file), names,
                                  specs);
  if (!are_options_known && !is_layout_of(specs, keras3))
    state.problem = "it was made with other options, which the file does not have";
  if (!state.problem.empty()) {
    warn(
        "'", file.path(),
        "': Error in loading the saved optimizer state. As a result, your model is starting with a "
        "freshly initialized optimizer: ",
        state.problem);
    return {};
  }
  const FlippedKernels flipped_kernels(model, origin);
  Matches matches;
  for (size_t i = 0; i < datasets.size(); ++i)
    if (const StateEntry& state_entry = state.layout[i]; state_entry.variable)
      matches.push_back({datasets[i], state_entry.variable,
                         flipped_kernels.conversion_of(state_entry.owner), "optimizer",
                         flipped_kernels.shape_conversion_of(state_entry.owner)});
  return matches;
}

}  // namespace crescent::keras
