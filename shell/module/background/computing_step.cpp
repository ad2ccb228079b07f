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
  current_step = this;
  caller_ = current_or_null();
  stay_current(nullptr);
  StateLock::instance().begin_step();
}

void ComputingStep::end() noexcept {
  if (--depth_ > 0 || !is_open_) return;
  StateLock::instance().end_step();
  current_step = nullptr;
  if (may_call_lua_()) stay_current(caller_);
}

bool ComputingStep::uses_any_of(const Ids& ids) {
  if (used_.empty()) {
    for (const Program::Binding& binding : variables_) used_.insert(binding.variable.id());
    const Ids of_model = ids_of_layer(model_);
    used_.insert(of_model.begin(), of_model.end());
  }
  return std::any_of(ids.begin(), ids.end(), [&](const void* id) { return used_.contains(id); });
}

ComputingStep* computing_step() { return current_step; }

bool is_computing(const Model& model) { return current_step && current_step->is_of(model); }

}  // namespace crescent::lua
