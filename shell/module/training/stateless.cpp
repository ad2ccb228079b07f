#include "training/stateless.h"

#include "crescent/layer/stateless.h"
#include "crescent/layer/training.h"
#include "crescent/model/model.h"
#include "tensors/tensors.h"

namespace crescent::lua {
namespace {

/// Puts the method of the object at stack index 1, which may be one of a Lua class, below the
/// object. An error of this function leaves no StatelessScope behind if none exists yet: a stock
/// Lua does not run destructors.
void push_method(lua_State* L, const char* name) {
  reserve(L, 4);
  lua_getfield(L, 1, name);
  lua_insert(L, 1);
}

/// Calls the method at the bottom of the stack with what is above it. Leaves the results on the
/// stack and returns their number.
int call_method(lua_State* L) {
  protected_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/// The mapping of the variables of a metric to the values at stack index 2, which are removed.
StatelessScope::Mapping take_metric_values(lua_State* L, const Metric& metric) {
  if (lua_gettop(L) < 2) lua_settop(L, 2);
  const Tensors values = to_tensors(L, 2);
  lua_remove(L, 2);
  return mapping_of(metric, values);
}

int update_state(lua_State* L) {
  const auto metric = Read<std::shared_ptr<Metric>>::from(L, 1);
  const StatelessScope::Mapping mapping = take_metric_values(L, *metric);
  push_method(L, "update_state");
  const StatelessScope scope(mapping);
  call_method(L);
  push(L, scope.current_values(metric->variables()));
  return 1;
}

int result(lua_State* L) {
  const auto metric = Read<std::shared_ptr<Metric>>::from(L, 1);
  const StatelessScope::Mapping mapping = take_metric_values(L, *metric);
  push_method(L, "result");
  const StatelessScope scope(mapping);
  return call_method(L);
}

int reset_state(lua_State* L) {
  const auto metric = Read<std::shared_ptr<Metric>>::from(L, 1);
  push_method(L, "reset_state");
  const StatelessScope scope;
  call_method(L);
  push(L, scope.current_values(metric->variables()));
  return 1;
}

/// Appends the variables with the values at stack index 2, which are removed; `list` names the
/// property of the model with the variables.
void take_values(lua_State* L, const Variables& variables, const char* list,
                 StatelessScope::Mapping& mapping) {
  const Tensors values = to_tensors(L, 2);
  if (values.size() != variables.size())
    fail("stateless_compute_loss: expected a value for each of the ", variables.size(), " ", list,
         ", got ", values.size());
  for (size_t i = 0; i < values.size(); ++i) mapping.emplace_back(variables[i], values[i]);
  lua_remove(L, 2);
}

/// Implements model:stateless_compute_loss(trainable_variables, non_trainable_variables,
/// metrics_variables, ...), whose further arguments are those of compute_loss.
int compute_loss(lua_State* L) {
  const auto model = Read<ModelPtr>::from(L, 1);
  if (lua_gettop(L) < 4)
    fail("stateless_compute_loss: expected values of trainable_variables, of ",
         "non_trainable_variables and of metrics_variables, then the arguments of compute_loss");
  const Variables trainable = model->trainable_weights(), fixed = non_trainable_state(*model);
  Variables metric_states;
  for (const auto& metric : model->all_metrics())
    for (const Variable& variable : metric->variables()) metric_states.push_back(variable);
  const Tensors trainable_values = to_tensors(L, 2);
  StatelessScope::Mapping mapping;
  take_values(L, trainable, "trainable_variables", mapping);
  take_values(L, fixed, "non_trainable_variables", mapping);
  take_values(L, metric_states, "metrics_variables", mapping);
  push_method(L, "compute_loss");
  const StatelessScope scope(mapping);
  call_method(L);
  const int loss = lua_gettop(L);
  lua_createtable(L, 3, 0);
  lua_Integer index = 0;
  for (const Tensors& values :
       {trainable_values, scope.current_values(fixed), scope.current_values(metric_states)}) {
    push(L, values);
    lua_rawseti(L, loss + 1, ++index);
  }
  return 2;
}

std::tuple<Tensors, Tensors> apply(Optimizer& optimizer, Any optimizer_variables, Any grads,
                                   Any trainable_variables) {
  lua_State* L = current();
  StatelessUpdate update =
      stateless_apply(optimizer, to_tensors(L, optimizer_variables.index),
                      to_tensors(L, grads.index), to_tensors(L, trainable_variables.index));
  return {std::move(update.trainable), std::move(update.optimizer)};
}

}  // namespace

void add_stateless_compute_loss(HandleType& model) {
  model.raw_method(
      "stateless_compute_loss -> the loss, the three lists of values after it", compute_loss,
      {"trainable_variables: a list of tensors", "non_trainable_variables: a list of tensors",
       "metrics_variables: a list of tensors", "x: a tensor or a structure of them=nil",
       "y: a tensor or a structure of them=nil", "y_pred: a tensor or a structure of them=nil",
       "sample_weight: a tensor or a structure of them=nil", "training: a boolean=true"},
      "Calls compute_loss with other values of trainable_variables, non_trainable_variables and "
      "metrics_variables; the model is unchanged. Returns the loss, and the values of these "
      "variables after it as { trainable, non_trainable, metrics }.");
}

void add_stateless_methods_of_metrics(HandleType& metric) {
  metric
      .raw_method(
          "stateless_update_state -> a list of tensors", update_state,
          {"metric_variables: a list of tensors", "y_true: a tensor", "y_pred: a tensor=nil",
           "sample_weight: a tensor=nil"},
          "The values of `variables` after a batch, computed from other values of them; the "
          "metric is unchanged. The arguments after the values are those of update_state.")
      .raw_method("stateless_result -> a tensor", result, {"metric_variables: a list of tensors"},
                  "The value of the metric for these values of `variables`.")
      .raw_method("stateless_reset_state -> a list of tensors", reset_state, {},
                  "The values of `variables` before the first batch; the metric is unchanged.");
}

void add_stateless_methods_of_optimizers(HandleType& optimizer) {
  optimizer.method(
      "stateless_apply -> the updated variables, the updated state", &apply,
      {"optimizer_variables: a list of tensors", "grads: a list of tensors",
       "trainable_variables: a list of tensors"},
      "The updated values of variables and of the state, computed from values of `variables` of "
      "the optimizer, gradients, and values of the variables with which it was built. The "
      "optimizer and its variables are unchanged.");
}

}  // namespace crescent::lua
