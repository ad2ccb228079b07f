// The common part of optimizers: state, clipping, decay, averages, constraints, by the formulas of
// Keras 3.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "crescent/layer/optimizer.h"
#include "crescent/program/program.h"
#include "layer/calls/outside_trace.h"
#include "optimization/update_observer.h"
#include "program/recording/divided.h"
#include "registry/blame.h"

namespace crescent {
namespace {

using namespace ops;

constexpr const char* kAverageSlot = "average";
constexpr const char* kAccumulatorSlot = "gradient_accumulator";

Variable state_variable(const Tensor& initial_value, const std::string& name) {
  Variable::Options options;
  options.name = name;
  options.trainable = false;
  return Variable(initial_value, options);
}

/// Limits the norm of the gradient of a variable; g is the gradient or, if the variable is divided
/// among processes, the part of the gradient in this process.
Tensor clip_by_norm(const Variable& variable, const Tensor& g, double max_norm) {
  const Tensor square_sum = sum_over_parts(variable, sum(square(g)));
  const Tensor norm = sqrt(where(greater(square_sum, 0), square_sum, 1));
  return g * max_norm / maximum(norm, max_norm);
}

void clip_by_global_norm(const Variables& variables, Tensors& gradients, double max_norm) {
  Tensors square_sums;
  for (size_t i = 0; i < gradients.size(); ++i)
    square_sums.push_back(
        sum_over_parts(variables[i], sum(square(cast(gradients[i], DType::float32)))));
  const Tensor norm = sqrt(add_n(square_sums));
  const Tensor factor = max_norm / maximum(norm, max_norm);
  for (Tensor& g : gradients) g = g * cast(factor, g.dtype());
}

Tensor rate_at(const Schedule& schedule, const Tensor& step) {
  return blaming(schedule, [&] { return schedule(step); });
}

}  // namespace

ConditionalUpdate::ConditionalUpdate(Tensor condition, Variables variables)
    : condition_(std::move(condition)), variables_(std::move(variables)) {
  if (condition_)
    for (const Variable& v : variables_) old_values_.push_back(v.value());
}
void ConditionalUpdate::finish() {
  if (!condition_) return;
  for (size_t i = 0; i < variables_.size(); ++i)
    variables_[i].assign(where(condition_, variables_[i].value(), old_values_[i]));
}

const Variable& Optimizer::Slots::operator[](size_t index) const {
  if (index >= slots_.size())
    fail("update() reads slots[", index, "], but the variable has ",
         slots_.empty() ? "no slots" : concat(slots_.size(), " of them"),
         ". slots() returns their names: std::vector<std::string> slots() const override { return "
         "{\"momentum\"}; }");
  return slots_[index];
}

// The variable of the learning rate is NaN until learning_rate() sets it from the option.
Optimizer::Optimizer()
    : iterations_(state_variable(Tensor(Shape{}, DType::int64), "iterations")),
      rate_variable_(state_variable(Tensor::scalar(NAN), "learning_rate")) {}

void Optimizer::describe_options(Schema<Optimizer>& s) {
  s.field("name", &Optimizer::name_, "Name of the optimizer.")
      .field("weight_decay", &Optimizer::weight_decay_,
             "Decoupled weight decay: w -= w * weight_decay * learning_rate.")
      .field("clipnorm", &Optimizer::clipnorm_, "Limit of the norm of each gradient.")
      .field("global_clipnorm", &Optimizer::global_clipnorm_,
             "Limit of the norm of all gradients together.")
      .field("clipvalue", &Optimizer::clipvalue_,
             "Limit of the magnitude of each element of a gradient.")
      .field("use_ema", &Optimizer::use_ema_, "Keep an exponential moving average of the weights.")
      .field("ema_momentum", &Optimizer::ema_momentum_, "Momentum of the average.")
      .min(0)
      .max(1)
      .field("ema_overwrite_frequency", &Optimizer::ema_overwrite_frequency_,
             "Number of steps after which the weights are overwritten by the average.")
      .field("loss_scale_factor", &Optimizer::loss_scale_factor_,
             "Multiply the loss by this factor and divide the gradients by it.")
      .field("gradient_accumulation_steps", &Optimizer::gradient_accumulation_steps_,
             "Number of steps whose gradients are averaged for each update.");
}

std::vector<std::string> Optimizer::slots() const { return {}; }
std::vector<std::string> Optimizer::slot_names() const { return slots(); }

Variable Optimizer::learning_rate() const {
  const OutsideTrace outside_trace;
  if (std::isnan(rate_variable_.value().item())) {
    const Tensor rate = learning_rate_.schedule
                            ? rate_at(*learning_rate_.schedule, iterations_.value())
                            : Tensor(learning_rate_.rate);
    rate_variable_.assign(rate);
  }
  return rate_variable_;
}

void Optimizer::set_learning_rate(LearningRate rate) {
  if (rate.schedule) {
    learning_rate_.schedule = std::move(rate.schedule);
    rate_variable_.assign(rate_at(*learning_rate_.schedule, iterations_.value()));
    return retrace_functions();
  }
  if (learning_rate_.schedule)
    fail(
        "This optimizer was created with a schedule as its `learning_rate` argument, hence its "
        "learning rate is not settable. If "
        "you need the learning rate to be settable, you should instantiate the optimizer with a "
        "number.");
  learning_rate_.rate = rate.rate;
  rate_variable_.assign(Tensor(rate.rate));
}

Tensor Optimizer::initial_slot(std::string_view, const Variable& variable) const {
  return Tensor(variable.shape(), variable.dtype());
}

void Optimizer::configured() {
  const int clipping_option_count =
      clipnorm_.has_value() + global_clipnorm_.has_value() + clipvalue_.has_value();
  if (clipping_option_count > 1)
    fail("only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set");
  if (gradient_accumulation_steps_ && *gradient_accumulation_steps_ < 2)
    fail("`gradient_accumulation_steps` must be an integer >= 2. Received: ",
         *gradient_accumulation_steps_);
  if (ema_overwrite_frequency_ && *ema_overwrite_frequency_ < 1)
    fail("`ema_overwrite_frequency` must be an integer >= 1 or null. Received: ",
         *ema_overwrite_frequency_);
}

namespace {

/// Fails if a variable is divided among processes and the optimizer's update of an element depends
/// on other elements of the variable, which other processes may have.
void expect_elementwise(const Optimizer& optimizer, const Variables& variables) {
  const auto info = optimizer.info();
  const Value* elementwise_trait = info ? info->schema.traits.find("elementwise") : nullptr;
  if (elementwise_trait && elementwise_trait->as_bool()) return;
  for (const Variable& v : variables)
    if (division_of(v))
      fail("optimizer ", optimizer.class_name(), " reads whole weights, and '", v.path(),
           "' is divided among processes: choose an optimizer that updates each element by itself, "
           "such as Adam, or a layout that does not divide it");
}

}  // namespace

void Optimizer::build(const Variables& variables) {
  if (built_ && variables == variables_) return;
  const OutsideTrace outside_trace;
  expect_elementwise(*this, variables);
  Optimizer::learning_rate();
  std::unordered_map<const void*, std::pair<Variable, Variables>> old_slots;
  for (auto& [variable, slots] : std::exchange(omitted_slots_, {}))
    old_slots[variable.id()] = {variable, std::move(slots)};
  for (size_t i = 0; i < variables_.size(); ++i)
    old_slots[variables_[i].id()] = {variables_[i], std::move(slot_variables_[i])};
  variables_ = variables;
  slot_variables_.clear();
  for (const Variable& v : variables) {
    const auto old_entry = old_slots.find(v.id());
    slot_variables_.push_back(old_entry == old_slots.end() ? make_slots(v)
                                                           : std::move(old_entry->second.second));
    if (old_entry != old_slots.end()) old_slots.erase(old_entry);
  }
  for (auto& [id, variable_and_slots] : old_slots)
    omitted_slots_.push_back(std::move(variable_and_slots));
  built_ = true;
}

void Optimizer::check_patterns(const Variables&) const {}

void Optimizer::include(const Variables& variables) {
  if (built_ && variables == variables_) return;
  Variables all_variables = variables_;
  std::unordered_set<const void*> visited_ids;
  for (const Variable& v : all_variables) visited_ids.insert(v.id());
  for (const Variable& v : variables)
    if (visited_ids.insert(v.id()).second) all_variables.push_back(v);
  build(all_variables);
}

const Variables& Optimizer::slots_of(const Variable& variable, size_t guessed_index) const {
  if (guessed_index < variables_.size() && variables_[guessed_index] == variable)
    return slot_variables_[guessed_index];
  const auto index = std::find(variables_.begin(), variables_.end(), variable) - variables_.begin();
  return slot_variables_[index];
}

/// Creates the slots of a variable; slots of a divided variable are divided in the same way. A slot
/// whose initial value is an empty Tensor is omitted: Adafactor has slots for rows and columns only
/// for matrices.
Variables Optimizer::make_slots(const Variable& variable) const {
  const Division* division = division_of(variable);
  const Shape whole_shape = variable.shape();
  const PartAccess part_access;
  Variables new_slots;
  auto add_slot = [&](const std::string& slot, const Tensor& initial_value) {
    new_slots.push_back(state_variable(initial_value, slot));
    new_slots.back().set_path(variable.path() + "/" + slot);
    if (division && initial_value.shape() == variable.shape())
      declare_divided(new_slots.back(), *division, whole_shape);
  };
  if (use_ema_) add_slot(kAverageSlot, variable.value().clone());
  if (gradient_accumulation_steps_)
    add_slot(kAccumulatorSlot, Tensor(variable.shape(), variable.dtype()));
  blaming(*this, [&] {
    const std::vector<std::string> names = slots();
    for (const std::string& slot : names) {
      if (std::count(names.begin(), names.end(), slot) > 1)
        fail("slots() returns the name '", slot, "' twice");
      if (const Tensor initial_value = initial_slot(slot, variable)) add_slot(slot, initial_value);
    }
  });
  return new_slots;
}

Tensor Optimizer::scale_loss(const Tensor& loss) const {
  return loss_scale_factor_ ? loss * *loss_scale_factor_ : loss;
}

Variables Optimizer::slot(std::string_view name) const {
  Variables slots;
  for (const auto& [variable, slot] : pairs_with(name)) slots.push_back(slot);
  return slots;
}

std::vector<std::pair<Variable, Variable>> Optimizer::pairs_with(std::string_view slot) const {
  std::vector<std::pair<Variable, Variable>> pairs;
  for (size_t i = 0; i < slot_variables_.size(); ++i)
    for (const Variable& v : slot_variables_[i])
      if (v.name() == slot) pairs.emplace_back(variables_[i], v);
  return pairs;
}

Variables Optimizer::state() const {
  Variables state{iterations_, learning_rate()};
  for (const char* slot_name : {kAverageSlot, kAccumulatorSlot})
    for (const Variable& v : slot(slot_name)) state.push_back(v);
  for (const Variables& slots : slot_variables_)
    for (const Variable& v : slots)
      if (v.name() != kAverageSlot && v.name() != kAccumulatorSlot) state.push_back(v);
  return state;
}

namespace {

/// A variable that a step updates: its gradient, the slots of the update rule, and the slots for
/// the moving average and the accumulated gradient.
struct VariableUpdate {
  Variable variable;
  Tensor gradient;
  Variables slots;
  Variable average, accumulator;
};

VariableUpdate update_of(const Variable& variable, const Tensor& gradient, const Variables& slots) {
  VariableUpdate update{variable, gradient, {}, {}, {}};
  for (const Variable& v : slots) {
    if (v.name() == kAverageSlot)
      update.average = v;
    else if (v.name() == kAccumulatorSlot)
      update.accumulator = v;
    else
      update.slots.push_back(v);
  }
  return update;
}

[[noreturn]] void fail_without_gradients(const Variables& variables) {
  std::vector<std::string> names;
  for (const Variable& v : variables) names.push_back(v.path());
  fail("No gradients provided for any variable: ", join(names),
       ". The loss does not depend on them.");
}

/// Prints a warning with the variables that have no gradient.
void warn_of_missing_gradients(const Tensors& gradients, const Variables& variables) {
  std::vector<std::string> names;
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i]) names.push_back(variables[i].path());
  if (!names.empty())
    warn("Gradients do not exist for variables ", join(names),
         ", so this step leaves them unchanged; the loss does not depend on them.");
}

/// Adds each gradient to its accumulator and replaces it by the mean of the accumulated gradients.
/// If `is_update` is true, the accumulators are set to zero.
void accumulate(std::vector<VariableUpdate>& updates, const Tensor& is_update,
                int64_t accumulation_steps) {
  for (VariableUpdate& update : updates) {
    const Tensor gradient_sum = update.accumulator + update.gradient;
    update.accumulator.assign(where(is_update, zeros_like(gradient_sum), gradient_sum));
    update.gradient = gradient_sum / static_cast<double>(accumulation_steps);
  }
}

Variables variables_and_slots(const std::vector<VariableUpdate>& updates) {
  Variables result;
  for (const VariableUpdate& update : updates) {
    result.push_back(update.variable);
    result.insert(result.end(), update.slots.begin(), update.slots.end());
  }
  return result;
}

/// Updates the moving averages, which start as the weights themselves. Every `overwrite_frequency`
/// updates, they overwrite the weights. `update_count` is the number of updates before this step.
void move_averages(const std::vector<VariableUpdate>& updates, const Tensor& update_count,
                   double momentum, std::optional<int64_t> overwrite_frequency) {
  for (const VariableUpdate& update : updates) {
    const Tensor decay = full({}, momentum, update.variable.dtype());
    const Tensor updated_average = update.average * decay + update.variable * (1.0 - decay);
    const Tensor average = where(equal(update_count, 0), update.variable.value(), updated_average);
    update.average.assign(average);
    if (!overwrite_frequency) continue;
    const Tensor is_overwriting = equal(mod(update_count + 1, *overwrite_frequency), 0);
    update.variable.assign(where(is_overwriting, average, update.variable.value()));
  }
}

bool is_positive(const std::optional<double>& limit) { return limit && *limit > 0; }

/// Notifies the observer of this thread, if there is one, and returns the gradients, which it may
/// replace.
Tensors notify_observer(std::span<const Tensor> gradients, const Variables& variables) {
  Tensors all_gradients(gradients.begin(), gradients.end());
  if (UpdateObserver* observer = UpdateObserver::current())
    observer->on_gradients(all_gradients, variables);
  return all_gradients;
}

/// The value of the variable after its constraint. Fails, naming the class of the constraint, if
/// the constraint gives another shape.
Tensor constrained_value(const Variable& variable) {
  const Constraint& constraint = *variable.constraint();
  const Tensor old_value = variable.value();
  Tensor value = blaming(constraint, [&] { return constraint(old_value); });
  if (!value || value.shape() != old_value.shape())
    fail(class_description(constraint.info().get(), Constraint::kKind), " gave ",
         value ? concat("a tensor of shape ", value.shape()) : "no tensor", " for variable '",
         variable.path(), "', which has shape ", old_value.shape());
  return value;
}

}  // namespace

void Optimizer::apply(std::span<const Tensor> given_gradients, const Variables& variables) {
  if (given_gradients.size() != variables.size())
    fail("expected a gradient for each of ", variables.size(), " variables, got ",
         given_gradients.size());
  const PartAccess part_access;
  const Tensors gradients = notify_observer(given_gradients, variables);
  Transaction transaction;
  include(variables);
  std::vector<VariableUpdate> variable_updates;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!gradients[i]) continue;
    const Tensor g = cast(gradients[i], variables[i].dtype());
    variable_updates.push_back(update_of(
        variables[i], loss_scale_factor_ ? g / *loss_scale_factor_ : g, slots_of(variables[i], i)));
  }
  if (variable_updates.empty()) fail_without_gradients(variables);
  warn_of_missing_gradients(gradients, variables);

  const Tensor step_count = iterations_.value();
  // Whether this step updates the variables (empty without gradient accumulation), and the number
  // of updates before it.
  Tensor is_update, update_count = step_count;
  if (gradient_accumulation_steps_) {
    is_update = equal(mod(step_count + 1, *gradient_accumulation_steps_), 0);
    update_count = floor_divide(step_count, *gradient_accumulation_steps_);
    accumulate(variable_updates, is_update, *gradient_accumulation_steps_);
  }
  ConditionalUpdate conditional_update(is_update, variables_and_slots(variable_updates));
  Variables updated_variables;
  Tensors clipped_gradients;
  for (const VariableUpdate& update : variable_updates) {
    updated_variables.push_back(update.variable);
    clipped_gradients.push_back(update.gradient);
  }
  if (is_positive(clipnorm_))
    for (size_t i = 0; i < variable_updates.size(); ++i)
      clipped_gradients[i] = clip_by_norm(updated_variables[i], clipped_gradients[i], *clipnorm_);
  else if (is_positive(global_clipnorm_))
    clip_by_global_norm(updated_variables, clipped_gradients, *global_clipnorm_);
  else if (is_positive(clipvalue_))
    for (Tensor& g : clipped_gradients) g = clip(g, -*clipvalue_, *clipvalue_);
  if (learning_rate_.schedule)
    rate_variable_.assign(cast(rate_at(*learning_rate_.schedule, step_count), DType::float32));
  const Tensor rate = rate_variable_.value(), step_number = cast(update_count + 1, DType::float32);
  for (size_t i = 0; i < variable_updates.size(); ++i) {
    const Variable& v = variable_updates[i].variable;
    const Tensor cast_rate = cast(rate, v.dtype());
    if (weight_decay_) v.assign(v - v * *weight_decay_ * cast_rate);
    blaming(*this, [&] {
      update(v, clipped_gradients[i], cast_rate, cast(step_number, v.dtype()),
             Slots(variable_updates[i].slots));
    });
  }
  conditional_update.finish();

  if (use_ema_)
    move_averages(variable_updates, update_count, ema_momentum_, ema_overwrite_frequency_);
  const PartAccess whole_access(false);
  for (const Variable& v : variables)
    if (v.constraint()) v.assign(constrained_value(v));
  iterations_.assign(step_count + 1);
  transaction.commit();
}

}  // namespace crescent
