#include "background/computing_step.h"

#include <algorithm>
#include <utility>

#include "crescent/layer/training.h"
#include "crescent/ops/random.h"
#include "crescent/program/communicator.h"
#include "lua/state.h"
#include "lua/state_lock.h"

namespace crescent::lua {
namespace {

// The step that computes, or null; guarded by the lock of the Lua state.
ComputingStep* current_step = nullptr;

}  // namespace

Ids ids_of(const Variables& variables) {
  Ids ids;
  for (const Variable& variable : variables)
    if (variable) ids.push_back(variable.id());
  return ids;
}

Ids ids_of_layer(Layer& layer) {
  Ids ids = ids_of(layer.weights());
  const auto add = [&](const Variables& variables) {
    const Ids variable_ids = ids_of(variables);
    ids.insert(ids.end(), variable_ids.begin(), variable_ids.end());
  };
  for (const Layer* inner_layer : layer.flatten_layers()) {
    ids.push_back(inner_layer);
    for (const auto& metric : inner_layer->metrics()) add(metric->variables());
  }
  const auto* model = dynamic_cast<const Model*>(&layer);
  if (!model || !model->compiled()) return ids;
  if (const auto optimizer = model->optimizer()) add(optimizer->state());
  for (const auto& metric : model->all_metrics()) add(metric->variables());
  return ids;
}

ComputingStep::ComputingStep(Model& model, std::function<bool()> may_call_lua)
    : model_(model), may_call_lua_(std::move(may_call_lua)) {}

bool ComputingStep::may_unlock() const {
  const auto is_global = [id = global_random().state().id()](const Program::Binding& binding) {
    return binding.variable.id() == id;
  };
  return !is_in_callback() && communicator()->size() == 1 &&
         std::none_of(variables_.begin(), variables_.end(), is_global);
}

void ComputingStep::begin(std::span<const Program::Binding> variables) noexcept {
  if (depth_++ > 0) return;
  variables_ = variables;
  has_unlocked_ = may_unlock();
  if (!has_unlocked_) return;
  used_ids_.clear();
  current_step = this;
  caller_state_ = current_or_null();
  set_current_thread(nullptr);
  StateLock::instance().begin_step();
}

void ComputingStep::end() noexcept {
  if (--depth_ > 0 || !has_unlocked_) return;
  StateLock::instance().end_step();
  current_step = nullptr;
  if (may_call_lua_()) set_current_thread(caller_state_);
}

bool ComputingStep::uses_any_of(const Ids& ids) {
  if (used_ids_.empty()) {
    for (const Program::Binding& binding : variables_) used_ids_.insert(binding.variable.id());
    const Ids model_ids = ids_of_layer(model_);
    used_ids_.insert(model_ids.begin(), model_ids.end());
  }
  return std::any_of(ids.begin(), ids.end(),
                     [&](const void* id) { return used_ids_.contains(id); });
}

ComputingStep* computing_step() { return current_step; }

bool is_computing(const Model& model) { return current_step && current_step->is_step_of(model); }

}  // namespace crescent::lua
