// Optimizers, losses, metrics, and callable objects that are functions of one tensor, in Lua.
#include "training/training.h"

#include "classes/building.h"
#include "classes/named_errors.h"
#include "classes/object_types.h"
#include "crescent/model/callback_hooks.h"
#include "crescent/model/model.h"
#include "instances/functions.h"
#include "instances/instance.h"
#include "instances/lua_objects.h"
#include "lua/log_table.h"
#include "training/model_training.h"
#include "training/plots.h"
#include "training/stateless.h"
#include "values/structured.h"

namespace crescent::lua {
namespace {

/// Whether the first entry of the table is a table, as in a list of pairs {gradient, variable}.
bool holds_pairs(lua_State* L, int index) {
  lua_rawgeti(L, index, 1);
  const bool is_pair = is_plain_table(L, lua_gettop(L));
  lua_pop(L, 1);
  return is_pair;
}

/// Implements apply_gradients(gradients, variables); also accepts a table of pairs, as Keras does,
/// and gradients alone, which are those of the variables with which the optimizer was built.
void apply_gradients(Optimizer& optimizer, Any gradients, Any variables) {
  lua_State* L = current();
  if (!lua_isnil(L, variables.index))
    return optimizer.apply(to_tensors(L, gradients.index),
                           Read<Variables>::from(L, variables.index));
  if (!is_plain_table(L, gradients.index))
    fail_expected(L, gradients.index, "gradients and variables");
  if (optimizer.built() && !holds_pairs(L, gradients.index))
    return optimizer.apply(to_tensors(L, gradients.index), optimizer.trainable_variables());
  Tensors values;
  Variables target_variables;
  for (lua_Integer i = 1; i <= static_cast<lua_Integer>(lua_rawlen(L, gradients.index)); ++i) {
    lua_rawgeti(L, gradients.index, i);
    if (!is_plain_table(L, -1)) fail_expected(L, -1, "a pair {gradient, variable}");
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    const int top = lua_gettop(L);
    values.push_back(lua_toboolean(L, top - 1) ? to_tensor(L, top - 1) : Tensor());
    target_variables.push_back(Read<Variable>::from(L, top));
    lua_pop(L, 3);
  }
  optimizer.apply(values, target_variables);
}

/// Sets the variables of the optimizer's state from a table of arrays in the order of
/// optimizer.variables.
void set_weights(Optimizer& optimizer, Any weights) {
  const Tensors values = to_tensors(current(), weights.index);
  const Variables state = optimizer.state();
  if (values.size() != state.size())
    fail("You are calling `set_weights(weights)` on optimizer ", optimizer.class_name(),
         " with a "
         "weight list of length ",
         values.size(), ", but the optimizer was expecting ", state.size(), " weights.");
  for (size_t i = 0; i < state.size(); ++i)
    if (!(values[i].shape() == state[i].shape()))
      fail("Optimizer variable ", state[i].path(), " has shape ", state[i].shape(),
           " not compatible with provided weight shape ", values[i].shape(), ".");
  for (size_t i = 0; i < state.size(); ++i) state[i].assign(values[i]);
}

/// Gives access to the protected functions of an optimizer's update rule, for Lua classes that are
/// derived from a built-in optimizer.
struct UpdateRule : Optimizer {
  static std::vector<std::string> slot_names(const Optimizer& optimizer) {
    return (optimizer.*&UpdateRule::slots)();
  }
  static Tensor initial_value_of_slot(const Optimizer& optimizer, const std::string& slot,
                                      const Variable& variable) {
    return (optimizer.*&UpdateRule::initial_slot)(slot, variable);
  }
  /// Calls the update rule. `state` is the table that LuaOptimizer::update passes.
  static void run(Optimizer& optimizer, const Tensor& gradient, const Variable& variable,
                  const Tensor& rate, Any state) {
    lua_State* L = current();
    const StackRestorer restorer(L);
    if (!is_plain_table(L, state.index)) fail_expected(L, state.index, "the slots by name");
    Variables slots;
    for (const std::string& name : slot_names(optimizer)) {
      push_field(L, state.index, name.c_str());
      slots.push_back(Read<Variable>::from(L, lua_gettop(L)));
      lua_pop(L, 1);
    }
    push_field(L, state.index, "step");
    const Tensor step = to_tensor(L, lua_gettop(L));
    (optimizer.*&UpdateRule::update)(variable, gradient, rate, step, Slots(slots));
  }
};

void add_optimizer(ObjectTypes& types, const HandleType& object) {
  HandleType& optimizer = add_type<Optimizer>(types, "optimizer", &object);
  add_stateless_methods_of_optimizers(optimizer);
  optimizer
      .property("learning_rate", &Optimizer::learning_rate, &set_learning_rate,
                "The learning rate; with a schedule its last value. It can be set to a number or "
                "a schedule.")
      .property("lr", &Optimizer::learning_rate, &set_learning_rate, "The same as learning_rate.")
      .method("set_weights", &set_weights, {"weights: a list of tensors"},
              "Assigns the state, in the order of `variables`.")
      .method(
          "scale_loss", &Optimizer::scale_loss, {"loss"},
          "The loss scaled for differentiation, as loss_scale_factor or a LossScaleOptimizer says.")
      .method("apply_gradients", &apply_gradients,
              {"gradients: a list of tensors", "variables: a list of variables=nil"},
              "Updates variables with their gradients.")
      .method("apply", &apply_gradients,
              {"gradients: a list of tensors", "variables: a list of variables=nil"},
              "Updates variables with their gradients.")
      .method("slots", &UpdateRule::slot_names, {},
              "The names of the state tensors (slots) of each variable.")
      .method("initial_slot", &UpdateRule::initial_value_of_slot,
              {"slot: a string", "variable: a variable"},
              "The initial value of a slot of a variable.")
      .method("update_step", &UpdateRule::run,
              {"gradient", "variable: a variable", "learning_rate", "state: a table with names"},
              "The update rule of one variable, which derived classes define: `state` has the "
              "slots by name and the number of the step.");
}

/// Updates a metric with a batch. Error messages begin with the class of the metric, unless the
/// class is written in Lua.
void update_metric(Metric& metric, const Tensor& y_true, const Tensor& y_pred,
                   const Tensor& sample_weight) {
  const auto update = [&] { metric.update_state(y_true, y_pred, sample_weight); };
  dynamic_cast<LuaMetric*>(&metric) ? update() : named_in_errors(metric.class_name(), update);
}

Tensor call_metric(Metric& metric, const Tensor& y_true, const Tensor& y_pred,
                   const Tensor& sample_weight) {
  update_metric(metric, y_true, y_pred, sample_weight);
  return metric.result();
}

/// Adds a state variable to a metric; the initializer may be a Lua function.
Variable add_variable_of(LuaMetric& metric, std::optional<std::string> name,
                         std::optional<Shape> shape, std::optional<DType> dtype,
                         const Value& initializer) {
  return metric.new_variable(std::move(name), std::move(shape), dtype.value_or(floatx()),
                             get<Initializer>(with_function_objects(initializer, "initializer")));
}

void add_losses_and_metrics(ObjectTypes& types, const HandleType& object) {
  HandleType& loss = add_type<Loss>(types, "loss", &object);
  loss.method("call", &Loss::call, {"y_true", "y_pred"}, "The loss of each sample.");
  loss.meta("__call",
            bound("loss", &Loss::operator(), {"loss", "y_true", "y_pred", "sample_weight=nil"}));
  add_type<DistillationLoss>(types, "distillation_loss", &object);
  HandleType& metric = add_type<Metric>(types, "metric", &object);
  metric.method("update_state", &update_metric, {"y_true", "y_pred=nil", "sample_weight=nil"},
                "Accumulates one batch.");
  add_stateless_methods_of_metrics(metric);
  metric.meta("__call", bound("metric", &call_metric,
                              {"metric", "y_true", "y_pred=nil", "sample_weight=nil"}));
  add_type<LuaMetric>(types, "metric", &metric)
      .method("add_variable", &add_variable_of,
              {"name=nil", "shape=nil", "dtype=nil",
               "initializer: a name, a configuration or an initializer=zeros"},
              "Creates a state variable of the metric, which reset_state sets to zero.")
      .method("add_weight", &add_variable_of,
              {"name=nil", "shape=nil", "dtype=nil",
               "initializer: a name, a configuration or an initializer=zeros"},
              "The same as add_variable.");
}

OnStack call_activation(const std::shared_ptr<Activation>& activation, Any x) {
  lua_State* L = current();
  const auto* symbol = to_handle<Symbol>(L, x.index);
  symbol ? push(L, activate(activation, *symbol))
         : push(L, apply_activation(activation, to_tensor(L, x.index)));
  return {};
}

template <class T>
Tensor call_on_tensor(T& function, const Tensor& x) {
  return function(x);
}

void add_functions(ObjectTypes& types, const HandleType& object) {
  add_type<Activation>(types, "activation", &object)
      .meta("__call", bound("activation", &call_activation, {"activation", "x"}));
  add_type<Regularizer>(types, "regularizer", &object)
      .meta("__call", bound("regularizer", &call_on_tensor<Regularizer>, {"regularizer", "x"}));
  add_type<Constraint>(types, "constraint", &object)
      .meta("__call", bound("constraint", &call_on_tensor<Constraint>, {"constraint", "w"}));
  add_type<Schedule>(types, "schedule", &object)
      .meta("__call", bound("schedule",
                            [](Schedule& schedule, const Tensor& step) {
                              return schedule(ops::cast(step, DType::int64));
                            },
                            {"schedule", "step"}));
  add_type<Initializer>(types, "initializer", &object)
      .meta("__call", bound("initializer",
                            [](Initializer& f, const Shape& shape, std::optional<DType> dtype) {
                              return f(shape, dtype.value_or(floatx()));
                            },
                            {"initializer", "shape", "dtype=nil"}));
}

OnStack history_table(History& history) {
  lua_State* L = current();
  lua_newtable(L);
  for (const auto& [name, values] : history.history()) {
    push(L, values);
    lua_setfield(L, -2, name.c_str());
  }
  mark_log_table(L);
  return {};
}

/// The text <History: 3 epochs, loss 0.25, accuracy 0.9>.
std::string history_text(History& history) {
  std::string text = concat("<History: ", history.epoch().size(),
                            history.epoch().size() == 1 ? " epoch" : " epochs");
  for (const auto& [name, values] : history.history())
    text += log_text(name, values.empty() ? 0.0 : values.back());
  return text + ">";
}

/// The logs in a table {name = number}, which may have the outputs of a batch, too; nil means no
/// logs.
Logs logs_at(lua_State* L, int index) {
  Logs logs;
  for (const DictEntry& entry : to_dict(L, index))
    if (entry.value.is_number())
      logs.set(entry.key, entry.value.as_float());
    else if (entry.key == "outputs" && holds_tensors(entry.value))
      logs.set_outputs(tensors_of(entry.value));
  return logs;
}

/// Calls a hook; values that the callback adds to the logs are then copied into the Lua table.
void call_hook(const CallbackHook& hook, Callback& callback, int64_t number, Any logs_table) {
  lua_State* L = current();
  Logs logs = logs_at(L, logs_table.index);
  hook.call(callback, number, logs);
  if (!lua_istable(L, logs_table.index)) return;
  for (const auto& [name, value] : logs.values()) {
    push_float(L, value);
    lua_setfield(L, logs_table.index, name.c_str());
  }
}

template <size_t I>
void add_hook(HandleType& callback, const char* name) {
  static constexpr const CallbackHook& hook = kCallbackHooks[I];
  if constexpr (hook.number != nullptr)
    callback.method(
        name, [](Callback& c, int64_t number, Any logs) { call_hook(hook, c, number, logs); },
        {hook.number, "logs: a table of numbers by name=nil"}, hook.doc);
  else
    callback.method(
        name, [](Callback& c, Any logs) { call_hook(hook, c, 0, logs); },
        {"logs: a table of numbers by name=nil"}, hook.doc);
}

/// Adds the hooks as methods, for training loops written by the user:
/// callback:on_epoch_begin(epoch, logs). Epochs and batches count from 0, as in fit.
template <size_t... I>
void add_hooks(HandleType& callback, std::index_sequence<I...>) {
  (add_hook<I>(callback, kCallbackHooks[I].name), ...);
  const auto add_older_name = [&]<size_t J>(std::integral_constant<size_t, J>) {
    if (kCallbackHooks[J].older_name) add_hook<J>(callback, kCallbackHooks[J].older_name);
  };
  (add_older_name(std::integral_constant<size_t, I>()), ...);
}

/// Sets the model and parameters of a callback that is called by another callback; fit does the
/// same before the first hook.
void attach_run(Callback& callback, const std::shared_ptr<Model>& model, Any params) {
  callback.attach_run(model.get(), to_dict(current(), params.index));
}
/// Restores the state of a callback. Lua tables cannot hold nil, so entries that are null in
/// get_state() are added if the table lacks them.
void set_state(Callback& callback, Any state) {
  Dict state_dict = to_dict(current(), state.index);
  for (const DictEntry& entry : callback.get_state())
    if (!state_dict.contains(entry.key)) state_dict.set(entry.key, Value());
  callback.set_state(state_dict);
}

void add_callbacks(ObjectTypes& types, const HandleType& object) {
  HandleType& callback = add_type<Callback>(types, "callback", &object);
  callback
      .method("attach_run", &attach_run, {"model: a model", "params: a table with names"},
              "Called before the first hook with the model to be trained and the parameters of the "
              "run.")
      .method("get_state", &Callback::get_state, {},
              "The state that a saved run stores for the callback.")
      .method("set_state", &set_state, {"state: a table with names"},
              "Restores the state that get_state returned.")
      .property(
          "model", [](Callback& c) { return std::shared_ptr<Object>(c.model()); },
          "The model that is trained.")
      .property("params", &Callback::params, "The parameters of the run: epochs, steps, verbose.");
  add_hooks(callback, std::make_index_sequence<std::size(kCallbackHooks)>());
  add_type<History>(types, "history", &callback)
      .property("history", &history_table, "A list of values for each log, one per epoch.")
      .raw_method("plot -> a path, or nothing", plot_history, {"options: a table with names=nil"},
                  "Draws the logs over the epochs, at the terminal or into a file.",
                  &schema_of<HistoryPlot>("plot"))
      .property(
          "epoch", [](History& h) { return h.epoch(); }, "The numbers of the epochs, from 0.")
      .meta("__tostring", bound("tostring", &history_text, {"history"}));
}

}  // namespace

void add_training_types(ObjectTypes& types, const HandleType& object) {
  add_optimizer(types, object);
  add_losses_and_metrics(types, object);
  add_functions(types, object);
  add_callbacks(types, object);
}

}  // namespace crescent::lua
