#include "training/computing_step.h"

#include <algorithm>

#include "crescent/layer/training.h"
#include "crescent/ops/random.h"
#include "crescent/program/communicator.h"
#include "instances/instance.h"
#include "lua/state_lock.h"
#include "training/async_run.h"

namespace crescent::lua {
namespace {

ComputingStep* computing = nullptr;  // the step that computes; guarded by the lock of the Lua state

template <class... T>
bool is_one_of(const Object& object) {
  return (dynamic_cast<const T*>(&object) || ...);
}

/// Whether the object has neither variables nor models: a step that computes does not use it.
bool is_passive(const Object& object) {
  return is_one_of<AsyncRun, History, Dataset, Loss, Activation, Initializer, Regularizer,
                   Constraint, Schedule>(object);
}

using Ids = std::vector<const void*>;

Ids ids_of(const Variables& variables) {
  Ids ids;
  for (const Variable& variable : variables)
    if (variable) ids.push_back(variable.id());
  return ids;
}

/// The layer with those below it, its variables, those of metrics and, of a model, those that
/// training updates.
Ids parts_of(Layer& layer) {
  Ids all = ids_of(layer.weights());
  const auto add = [&](const Variables& variables) {
    const Ids more = ids_of(variables);
    all.insert(all.end(), more.begin(), more.end());
  };
  for (const Layer* each : layer.flatten_layers()) {
    all.push_back(each);
    for (const auto& metric : each->metrics()) add(metric->variables());
  }
  const auto* model = dynamic_cast<const Model*>(&layer);
  if (!model || !model->compiled()) return all;
  if (const auto optimizer = model->optimizer()) add(optimizer->state());
  for (const auto& metric : model->all_metrics()) add(metric->variables());
  return all;
}

/// Whether functions of Lua belong to the layer, so that not all variables that it uses are known.
bool has_lua(Layer& layer) {
  const std::vector<Layer*> all = layer.flatten_layers();
  return std::any_of(all.begin(), all.end(), [](const Layer* each) {
    return dynamic_cast<const Instance*>(each) != nullptr;
  });
}

}  // namespace

ComputingStep::ComputingStep(Model& model, std::function<bool()> may_call_lua)
    : model_(model), may_call_lua_(std::move(may_call_lua)) {}

bool ComputingStep::may_unlock() const {
  const auto is_global = [id = global_random().state().id()](const Program::Binding& binding) {
    return binding.variable.id() == id;
  };
  return !in_callback() && communicator()->size() == 1 &&
         std::none_of(variables_.begin(), variables_.end(), is_global);
}

void ComputingStep::begin(std::span<const Program::Binding> variables) noexcept {
  if (depth_++ > 0) return;
  variables_ = variables;
  is_open_ = may_unlock();
  if (!is_open_) return;
  used_.clear();
  computing = this;
  caller_ = current_or_null();
  stay_current(nullptr);
  StateLock::instance().begin_step();
}

void ComputingStep::end() noexcept {
  if (--depth_ > 0 || !is_open_) return;
  StateLock::instance().end_step();
  computing = nullptr;
  if (may_call_lua_()) stay_current(caller_);
}

bool ComputingStep::uses_any_of(const Ids& ids) {
  if (used_.empty()) {
    for (const Program::Binding& binding : variables_) used_.insert(binding.variable.id());
    const Ids parts = parts_of(model_);
    used_.insert(parts.begin(), parts.end());
  }
  return std::any_of(ids.begin(), ids.end(), [&](const void* id) { return used_.contains(id); });
}

bool uses_variable(const Variable& variable) { return computing->uses_any_of(ids_of({variable})); }

bool uses_object(Object& object) {
  if (auto* layer = dynamic_cast<Layer*>(&object))
    return has_lua(*layer) || computing->uses_any_of(parts_of(*layer));
  if (auto* metric = dynamic_cast<Metric*>(&object))
    return computing->uses_any_of(ids_of(metric->variables()));
  if (auto* optimizer = dynamic_cast<Optimizer*>(&object))
    return computing->uses_any_of(ids_of(optimizer->state()));
  return !is_passive(object);
}

bool is_computing(const Model& model) { return computing && computing->is_of(model); }

}  // namespace crescent::lua
