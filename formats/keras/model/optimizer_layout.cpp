#include "keras/model/optimizer_layout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

constexpr const char *kIteration = "iteration", *kLearningRate = "learning_rate";

// ---- tables of slots and their names

/// A slot that Keras 3 lists after the other slots: first the slots of rank 1 of all variables,
/// then those of rank 2.
struct TrailingSlot {
  const char *class_name, *slot;
  int rank;
};
constexpr TrailingSlot kTrailingSlots[] = {{"Adam", "velocity_hat", 1},
                                           {"AdamW", "velocity_hat", 1},
                                           {"RMSprop", "momentum", 1},
                                           {"RMSprop", "average_gradient", 2}};

/// A slot that Keras 2 stores even if the optimizer does not use it: with the shape of the variable
/// if `has_full_size` is true, else with the shape (1,).
struct UnusedSlot {
  const char *class_name, *slot;
  bool has_full_size;
};
constexpr UnusedSlot kUnusedSlots[] = {{"SGD", "momentum", true}, {"Adam", "velocity_hat", false}};

/// Classes for which all generations of Keras list all slots of one variable together, then those
/// of the next variable.
constexpr const char* kAlwaysByVariable[] = {"Ftrl"};

/// The product of the momenta of all steps, which Nadam stores in Keras and which Crescent computes
/// from the number of steps. The momentum of a step is proportional to 1 - 0.96^(decay * step) / 2.
/// In Keras 3 the decay is always 1 (`has_decay` is false).
struct MomentumProduct {
  const char *generation, *name;
  bool has_decay;
};
constexpr const char* kNadam = "Nadam";
constexpr MomentumProduct kMomentumProducts[] = {{"keras3", "u_product", false},
                                                 {"keras2", "m_schedule", true}};

/// A name in Keras 2 or tf.keras, and the slot that it means.
struct SlotSpelling {
  const char *keras, *slot;
};
constexpr SlotSpelling kSpellings[] = {{"m", "momentum"},
                                       {"v", "velocity"},
                                       {"vhat", "velocity_hat"},
                                       {"u", "norm"},
                                       {"iter", kIteration},
                                       {"iterations", kIteration},
                                       {"current_learning_rate", kLearningRate}};

/// The name of a slot of a class in Keras 2.3.1.
struct Keras2Name {
  const char *class_name, *slot, *name;
};
constexpr Keras2Name kKeras2Names[] = {{"SGD", "momentum", "moment"},
                                       {"RMSprop", "velocity", "accumulator"},
                                       {"Adadelta", "accumulated_grad", "accumulator"},
                                       {"Adadelta", "accumulated_delta_var", "delta_accumulator"},
                                       {"Adam", "momentum", "m"},
                                       {"Adam", "velocity", "v"},
                                       {"Adam", "velocity_hat", "vhat"},
                                       {"Adamax", "momentum", "m"},
                                       {"Adamax", "norm", "u"},
                                       {"Nadam", "momentum", "m"},
                                       {"Nadam", "velocity", "v"}};

// ---- layouts of the state of an optimizer

/// The order of slots. `keras3` is the order of Keras 3, which puts some slots last
/// (kTrailingSlots). `by_variable` lists all slots of the first variable, then all of the second
/// variable, and so on. `by_slot` lists the first slot of all variables, then their second slot,
/// and so on.
enum class StateOrder { keras3, by_variable, by_slot };

/// The parts of a layout of Keras 3, which differ between releases and options.
struct Keras3Parts {
  StateOrder order = StateOrder::keras3;
  bool has_rate = true;           ///< the learning rate
  bool has_unused_slots = false;  ///< slots that Keras 2 stores without using them
  bool has_extra_scalars = true;  ///< scalars that only some classes have
  /// Variables that Keras creates in build() without add_variable(): the scalars of Adafactor for
  /// vectors, and the product of Nadam.
  bool has_untracked_variables = true;
};

class LayoutMaker {
 public:
  LayoutMaker(const Optimizer& optimizer, const Variables& trained_variables)
      : optimizer_(optimizer), trained_variables_(trained_variables) {
    const Dict config = optimizer.get_config();
    const Value* inner_optimizer = config.find("inner_optimizer");
    is_loss_scaled_ = inner_optimizer && is_object(*inner_optimizer);
    class_name_ = is_loss_scaled_ ? class_of(*inner_optimizer) : optimizer.class_name();
    const Dict inner_config = is_loss_scaled_ ? config_of(inner_optimizer->as_dict()) : config;
    const Value* rate = inner_config.find(kLearningRate);
    has_schedule_ = rate && rate->is_dict();
    sort_state();
  }

  bool has_schedule() const { return has_schedule_; }

  /// Whether the optimizer is a LossScaleOptimizer, which hides the untracked variables of its
  /// inner optimizer from Keras.
  bool is_loss_scaled() const { return is_loss_scaled_; }

  /// The parts that a file of today's Keras has.
  Keras3Parts usual_parts() const {
    return {.has_rate = !has_schedule_, .has_untracked_variables = !is_loss_scaled_};
  }

  StateLayout keras3(const Keras3Parts& parts) const {
    StateLayout layout;
    // the entries of the LossScaleOptimizer itself; the count and the rate in use are those of its
    // inner optimizer
    if (is_loss_scaled_) {
      layout.push_back({{}, kIteration, {DType::int32, Shape{}}});
      layout.push_back({{}, kLearningRate, {DType::float32, Shape{}}});
      append(layout, scalar_entries_);
    }
    append(layout, inner_keras3(parts));
    return layout;
  }

  /// The part of a layout that belongs to the inner optimizer of a LossScaleOptimizer; the whole
  /// layout for other optimizers.
  StateLayout inner_keras3(const Keras3Parts& parts) const {
    StateLayout layout;
    layout.push_back({optimizer_.iterations(), kIteration, {DType::int32, Shape{}}});
    if (parts.has_rate) layout.push_back(entry_of(learning_rate_));
    append(layout, shared_entries_);
    append(layout,
           sorted_slots(parts.has_untracked_variables ? with_scalars_for_vectors() : slot_entries_,
                        parts.order));
    if (parts.has_unused_slots) append(layout, unused_slots());
    if (!is_loss_scaled_ && parts.has_extra_scalars) append(layout, scalar_entries_);
    if (class_name_ == kNadam && parts.has_extra_scalars && parts.has_untracked_variables)
      layout.push_back(momentum_product("keras3"));
    return layout;
  }

  StateLayout keras2(bool with_iterations, bool with_unused_slots, bool with_extra_scalars) const {
    StateLayout layout;
    if (with_iterations) layout.push_back(entry_of(optimizer_.iterations()));
    if (!is_loss_scaled_ && with_extra_scalars) append(layout, scalar_entries_);
    if (class_name_ == kNadam && with_extra_scalars) layout.push_back(momentum_product("keras2"));
    const bool is_by_variable =
        std::count(std::begin(kAlwaysByVariable), std::end(kAlwaysByVariable), class_name_) > 0;
    append(layout, sorted_slots(with_scalars_for_vectors(),
                                is_by_variable ? StateOrder::by_variable : StateOrder::by_slot));
    if (with_unused_slots) append(layout, unused_slots());
    return layout;
  }

  bool has_unused_slots() const { return !unused_slots().empty(); }
  bool has_extra_scalars() const { return !scalar_entries_.empty() || class_name_ == kNadam; }

 private:
  static void append(StateLayout& layout, const StateLayout& additions) {
    layout.insert(layout.end(), additions.begin(), additions.end());
  }
  StateEntry entry_of(const Variable& variable, const Variable& owner = {}) const {
    const std::string slot = variable.name() == "iterations" ? kIteration : variable.name();
    return {variable, slot, variable.spec(), owner};
  }

  /// Divides the state into entries that all optimizers may have (averages, accumulated gradients),
  /// slots, and scalars.
  void sort_state() {
    slot_names_ = optimizer_.slot_names();
    for (const Variable& variable : optimizer_.state())
      if (!learning_rate_ && variable.name() == kLearningRate) learning_rate_ = variable;
    for (const char* name : {"average", "gradient_accumulator"})
      for (const Variable& variable : optimizer_.slot(name))
        shared_entries_.push_back(entry_of(variable));
    std::set<const void*> handled_ids{optimizer_.iterations().id(), learning_rate_.id()};
    for (const StateEntry& entry : shared_entries_) handled_ids.insert(entry.variable.id());
    for (const Variable& variable : optimizer_.state()) {
      if (!handled_ids.insert(variable.id()).second) continue;
      const bool is_slot = std::count(slot_names_.begin(), slot_names_.end(), variable.name()) > 0;
      (is_slot ? slot_entries_ : scalar_entries_).push_back(entry_of(variable));
    }
    find_owners();
  }
  void find_owners() {
    std::set<std::string> seen_slots;
    // the trained variable to which each slot variable belongs
    std::unordered_map<const void*, Variable> owners;
    for (StateLayout* layout : {&shared_entries_, &slot_entries_})
      for (StateEntry& entry : *layout) {
        if (seen_slots.insert(entry.slot).second) add_owners(optimizer_.slot(entry.slot), owners);
        const auto owner = owners.find(entry.variable.id());
        if (owner != owners.end()) entry.owner = owner->second;
      }
  }
  void add_owners(const Variables& slots, std::unordered_map<const void*, Variable>& owners) const {
    for (size_t i = 0; slots.size() == trained_variables_.size() && i < slots.size(); ++i)
      owners.emplace(slots[i].id(), trained_variables_[i]);
  }

  int rank(const std::string& slot, StateOrder order) const {
    if (order == StateOrder::by_variable) return 0;
    if (order == StateOrder::by_slot)
      return static_cast<int>(std::find(slot_names_.begin(), slot_names_.end(), slot) -
                              slot_names_.begin());
    for (const TrailingSlot& row : kTrailingSlots)
      if (class_name_ == row.class_name && slot == row.slot) return row.rank;
    return 0;
  }
  StateEntry momentum_product(std::string_view target_generation) const {
    const auto row = std::find_if(
        std::begin(kMomentumProducts), std::end(kMomentumProducts),
        [&](const MomentumProduct& entry) { return target_generation == entry.generation; });
    const Dict config = optimizer_.get_config();
    const Value *beta = config.find("beta_1"),
                *accumulation_steps = config.find("gradient_accumulation_steps");
    const bool accumulates = accumulation_steps && accumulation_steps->is_int();
    const Value* decay = row->has_decay ? config.find("schedule_decay") : nullptr;
    const double decay_base = std::pow(0.96, decay && decay->is_number() ? decay->as_float() : 1);
    double product = 1;
    const double steps = std::floor(optimizer_.iterations().value().item() /
                                    (accumulates ? double(accumulation_steps->as_int()) : 1));
    for (double step = 1; step <= steps && product > 0; ++step)
      product *= (beta ? beta->as_float() : 0.9) * (1 - 0.5 * std::pow(decay_base, step));
    return {{}, row->name, {DType::float32, Shape{}}, {}, product};
  }

  /// The slots as Keras 3 stores them. For a vector, which has no averages of rows and columns,
  /// Adafactor stores scalars in their place.
  StateLayout with_scalars_for_vectors() const {
    StateLayout layout;
    for (const StateEntry& entry : slot_entries_) {
      if (class_name_ == "Adafactor" && entry.slot == "velocity" && entry.owner &&
          entry.owner.shape().rank() < 2)
        for (const char* slot : {"r", "c"})
          layout.push_back({{}, slot, {DType::float32, Shape{}}, entry.owner});
      layout.push_back(entry);
    }
    return layout;
  }

  StateLayout sorted_slots(StateLayout slots, StateOrder order) const {
    std::stable_sort(slots.begin(), slots.end(), [&](const StateEntry& a, const StateEntry& b) {
      return rank(a.slot, order) < rank(b.slot, order);
    });
    return slots;
  }

  StateLayout unused_slots() const {
    StateLayout layout;
    for (const UnusedSlot& row : kUnusedSlots) {
      if (class_name_ != row.class_name ||
          std::count(slot_names_.begin(), slot_names_.end(), row.slot))
        continue;
      for (const Variable& variable : trained_variables_)
        layout.push_back({{},
                          row.slot,
                          {variable.dtype(), row.has_full_size ? variable.shape() : Shape{1}},
                          variable});
    }
    return layout;
  }

  const Optimizer& optimizer_;
  const Variables& trained_variables_;
  // the class of the optimizer that has the slots: the inner one of a LossScaleOptimizer
  std::string class_name_;
  bool is_loss_scaled_ = false, has_schedule_ = false;
  std::vector<std::string> slot_names_;
  // set even if the optimizer has no option for the learning rate (MultiOptimizer)
  Variable learning_rate_;
  StateLayout shared_entries_, slot_entries_, scalar_entries_;
};

// ---- assignment of a file's entries to a layout

/// A possible order of an optimizer's state in a file. If `requires_names` is true, no known
/// release of Keras writes this order; then it is only used if the name of each entry contains its
/// slot.
struct Candidate {
  StateLayout layout;
  bool requires_names = false;
};

std::vector<Candidate> candidates(const LayoutMaker& layouts, bool is_by_slot) {
  std::vector<Candidate> candidates;
  for (const bool with_unused_slots : {false, true})
    for (const bool with_extra_scalars : {true, false}) {
      if ((with_unused_slots && !layouts.has_unused_slots()) ||
          (!with_extra_scalars && !layouts.has_extra_scalars()))
        continue;
      if (is_by_slot) {  // before Keras 2.3 some optimizers did not store the number of iterations
        for (const bool with_iterations : {true, false})
          candidates.push_back(
              {layouts.keras2(with_iterations, with_unused_slots, with_extra_scalars)});
        continue;
      }
      for (const StateOrder order :
           {StateOrder::keras3, StateOrder::by_variable, StateOrder::by_slot})
        for (const bool with_rate : {!layouts.has_schedule(), layouts.has_schedule()})
          for (const bool with_untracked_variables :
               {!layouts.is_loss_scaled(), layouts.is_loss_scaled()})
            candidates.push_back({layouts.keras3({order, with_rate, with_unused_slots,
                                                  with_extra_scalars, with_untracked_variables}),
                                  order != StateOrder::keras3});
    }
  return candidates;
}

/// Sorts the entries of each slot in the order of the trained variables `owners`.
void sort_by_owner(StateLayout& layout, const Variables& owners) {
  std::unordered_map<const void*, size_t> positions;
  for (const Variable& owner : owners) positions.emplace(owner.id(), positions.size());
  const auto rank_of = [&](const StateEntry& entry) {
    const auto position = positions.find(entry.owner.id());
    return position == positions.end() ? owners.size() : position->second;
  };
  for (auto begin = layout.begin(), end = begin; begin != layout.end(); begin = end) {
    end = std::find_if(begin, layout.end(), [&](const StateEntry& entry) {
      return entry.slot != begin->slot || !entry.owner;
    });
    if (end == begin) ++end;
    std::stable_sort(begin, end, [&](const StateEntry& a, const StateEntry& b) {
      return rank_of(a) < rank_of(b);
    });
  }
}

std::string without_counter(std::string name) {
  if (name.ends_with(":0")) name.resize(name.size() - 2);
  const size_t last_char = name.find_last_not_of("0123456789");
  const bool has_counter =
      last_char != name.npos && last_char + 1 < name.size() && name[last_char] == '_';
  return has_counter ? name.substr(0, last_char) : name;
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (size_t begin = 0, end; begin <= name.size(); begin = end + 1) {
    end = std::min(name.find('/', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
  }
  return parts;
}

std::string slot_of_spelling(const std::string& slot) {
  for (const SlotSpelling& row : kSpellings)
    if (slot == row.keras) return row.slot;
  return slot;
}

/// The name in `slots` that the name of an entry contains; "" if it contains none of them.
/// Examples: "adam/dense_kernel_velocity" (Keras 3), "Adam/v/dense/kernel:0" (tf.keras from 2.11),
/// "Adam/dense/kernel/v:0" (earlier), "training/Adam/v_3" (2.3.1).
std::string slot_in_name(const std::string& name, const std::set<std::string>& slots) {
  const std::vector<std::string> parts = parts_of(without_counter(name));
  if (slots.contains(slot_of_spelling(parts.back()))) return slot_of_spelling(parts.back());
  std::string longest_slot;
  for (const std::string& slot : slots)
    if (parts.back().ends_with("_" + slot) && slot.size() > longest_slot.size())
      longest_slot = slot;
  if (longest_slot.empty() && parts.size() > 2 && slots.contains(slot_of_spelling(parts[1])))
    return slot_of_spelling(parts[1]);
  return longest_slot;
}

std::string entry_text(const StateEntry& entry) {
  return entry.owner ? concat(entry.slot, " of ", entry.owner.path()) : entry.slot;
}

/// The reason why the entries of a file do not fit a candidate; "" if they fit.
std::string misfit_reason(const Candidate& candidate, const std::vector<std::string>& names,
                          const std::vector<TensorSpec>& specs) {
  const StateLayout& layout = candidate.layout;
  if (layout.size() != names.size())
    return concat("expected ", layout.size(), " arrays, the file has ", names.size());
  std::set<std::string> slots;
  for (const StateEntry& entry : layout) slots.insert(entry.slot);
  for (size_t i = 0; i < layout.size(); ++i) {
    const StateEntry& entry = layout[i];
    if (entry.spec.shape != specs[i].shape)
      return concat("expected ", entry_text(entry), " of shape ", entry.spec.shape,
                    ", the file has '", names[i], "' of shape ", specs[i].shape);
    const std::string slot = slot_in_name(names[i], slots);
    if (slot.empty() ? candidate.requires_names : slot != entry.slot)
      return concat("expected ", entry_text(entry), ", the file has '", names[i], "'");
  }
  return "";
}

/// Whether entries with these names are ordered by slot. Keras 3 and tf.keras from 2.11 order by
/// variable; their entries include an "iteration" or have numbers as names.
bool lists_by_slot(const std::vector<std::string>& names) {
  return std::none_of(names.begin(), names.end(), [](const std::string& name) {
    const std::string last_part = parts_of(name).back();
    return without_counter(last_part) == kIteration ||
           last_part.find_first_not_of("0123456789") == std::string::npos;
  });
}

std::string keras2_name(const std::string& class_name, const std::string& slot) {
  for (const Keras2Name& row : kKeras2Names)
    if (class_name == row.class_name && slot == row.slot) return row.name;
  return slot;
}

/// Makes names such as "training/Adam/m_0:0", numbered for each slot.
std::vector<std::string> keras2_names(const std::string& class_name, const StateLayout& layout) {
  std::vector<std::string> names;
  std::map<std::string, int> slot_counts;
  for (const StateEntry& entry : layout) {
    const std::string slot = keras2_name(class_name, entry.slot);
    names.push_back(entry.slot == kIteration ? class_name + "/iterations:0"
                                             : concat("training/", class_name, "/", slot, "_",
                                                      slot_counts[slot]++, ":0"));
  }
  return names;
}

/// Makes names such as "adam/dense_kernel_velocity".
std::vector<std::string> keras3_names(const std::string& prefix, const StateLayout& layout) {
  std::vector<std::string> names;
  std::set<std::string> used_names;
  for (const StateEntry& entry : layout) {
    std::string variable = entry.owner ? entry.owner.path() + "_" : "";
    std::replace(variable.begin(), variable.end(), '/', '_');
    const std::string base_name = prefix + "/" + variable + entry.slot;
    std::string name = base_name;
    for (int copy = 1; !used_names.insert(name).second; ++copy) name = concat(base_name, "_", copy);
    names.push_back(name);
  }
  return names;
}

}  // namespace

StateLayout optimizer_layout(const Optimizer& optimizer, const Variables& trained_variables,
                             const std::string& target_generation) {
  const LayoutMaker layouts(optimizer, trained_variables);
  return target_generation == "keras2" ? layouts.keras2(true, true, true)
                                       : layouts.keras3(layouts.usual_parts());
}

StateLayout inner_optimizer_layout(const Optimizer& optimizer, const Variables& trained_variables) {
  const LayoutMaker layouts(optimizer, trained_variables);
  return layouts.is_loss_scaled() ? layouts.inner_keras3(layouts.usual_parts()) : StateLayout();
}

std::vector<std::string> layout_names(const Optimizer& optimizer, const StateLayout& layout,
                                      const std::string& target_generation) {
  if (target_generation == "keras2") return keras2_names(optimizer.class_name(), layout);
  const std::string& name = optimizer.name();
  return keras3_names(name.empty() ? to_snake_case(optimizer.class_name()) : name, layout);
}

MatchedState match_optimizer_state(const Optimizer& optimizer, const Variables& trained_variables,
                                   const Variables& listed_variables,
                                   const std::vector<std::string>& names,
                                   const std::vector<TensorSpec>& specs) {
  const LayoutMaker layouts(optimizer, trained_variables);
  std::string mismatch_reason;
  for (Candidate& candidate : candidates(layouts, lists_by_slot(names))) {
    sort_by_owner(candidate.layout, listed_variables);
    const std::string reason = misfit_reason(candidate, names, specs);
    if (reason.empty()) return {std::move(candidate.layout), ""};
    const bool is_preferred = candidate.layout.size() == names.size() && !candidate.requires_names;
    if (mismatch_reason.empty() || is_preferred) mismatch_reason = reason;
  }
  return {{}, mismatch_reason};
}

}  // namespace crescent::keras
