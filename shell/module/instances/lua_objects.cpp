#include "instances/lua_objects.h"

#include <algorithm>
#include <set>

#include "crescent/program/program.h"
#include "instances/pushed_logs.h"
#include "values/callable.h"
#include "values/structured.h"

namespace crescent::lua {
namespace {

bool is_leaf(const Value& value) {
  const Value structure = nested_or_null(structure_of(value));
  return structure.is_null();
}

/// The results of call() on the stack from `first_result` on, as one nested value; `return a, {b,
/// c}` means the same as `return {a, b, c}`.
Value results_of(lua_State* L, int first_result, const Layer& layer) {
  if (lua_isnoneornil(L, first_result))
    fail_in_layer(layer.name(), "Layer ", layer.name(),
                  ": call() returned nothing; expected a tensor or a table of tensors");
  if (is_plain_table(L, first_result) && lua_rawlen(L, first_result) == 0 &&
      !is_keywords(L, first_result))
    fail_in_layer(layer.name(), "Layer ", layer.name(),
                  ": call() returned an empty table; expected a tensor or a table of tensors");
  if (lua_gettop(L) == first_result) return without_list_of_one(nested_at(L, first_result));
  List results;
  for (int i = first_result; i <= lua_gettop(L); ++i)
    if (!lua_isnil(L, i)) results.push_back(nested_at(L, i));
  return std::all_of(results.begin(), results.end(), is_leaf) ? Value(leaves_of(results))
                                                              : Value(results);
}

/// The names of the parameters, after self and the inputs, of the function at `index`.
std::vector<std::string> parameters_of(lua_State* L, int index) {
  std::vector<std::string> names;
  lua_pushvalue(L, index);
  for (int local_index = 3; const char* name = lua_getlocal(L, nullptr, local_index); ++local_index)
    names.push_back(name);
  lua_pop(L, 1);
  return names;
}

/// Pushes {training=, mask=, ...}, the second argument of call().
void push_call(lua_State* L, const Call& call) {
  push(L, call.arguments);
  if (call.arguments.empty()) lua_pop(L, 1), lua_newtable(L);
  lua_pushboolean(L, call.training);
  lua_setfield(L, -2, "training");
  if (call.masks.empty()) return;
  push(L, OneOrMore<Tensor>{call.masks});
  lua_setfield(L, -2, "mask");
}

/// Pushes the argument of this name; returns false if the call has none.
bool push_argument(lua_State* L, const std::string& name, const Call& call,
                   const std::vector<Argument>& declared_arguments) {
  const auto match = std::find_if(declared_arguments.begin(), declared_arguments.end(),
                                  [&](const Argument& argument) { return argument.name == name; });
  if (name == "training")
    lua_pushboolean(L, call.training);
  else if (name == "mask")
    push(L, OneOrMore<Tensor>{call.masks});
  else if (call.arguments.contains(name))
    push(L, call.arguments.at(name));
  else if (match != declared_arguments.end())
    push(L, match->default_value);
  else
    return false;
  return true;
}

/// Pushes the arguments that follow self and the inputs: one by one if the first parameter of the
/// Lua function is the name of an argument, as in call(inputs, training); otherwise all in one
/// table.
void push_arguments(lua_State* L, int function_index, const Call& call,
                    const std::vector<Argument>& declared_arguments) {
  const std::vector<std::string> names = parameters_of(L, function_index);
  size_t pushed_count = 0;
  reserve(L, static_cast<int>(names.size()) + 4);
  while (pushed_count < names.size() &&
         push_argument(L, names[pushed_count], call, declared_arguments))
    ++pushed_count;
  if (pushed_count == 0 || pushed_count < names.size()) push_call(L, call);
}

/// Pushes the shapes of the tensors in a value, in the same structure.
void push_shapes(lua_State* L, const Value& nested) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : tensors_of(nested)) shapes.push_back(tensor.shape());
  push_nested(L, structure_of(nested), shapes);
}

/// Pushes the shapes of those arguments of a call that are tensors, in order. build() gets these
/// shapes after the shapes of the inputs.
void push_argument_shapes(lua_State* L, const CallOptions& call,
                          const std::vector<std::string>& names) {
  reserve(L, static_cast<int>(names.size()) + 4);
  for (const std::string& name : names) {
    const Value* argument = call.arguments.find(name);
    const bool has_tensors = argument && !argument->is_null() && holds_tensors(*argument);
    has_tensors ? push_shapes(L, *argument) : lua_pushnil(L);
  }
}

struct PushedInputs {
  const Tensors& tensors;
};
void push(lua_State* L, const PushedInputs& inputs) { push(L, OneOrMore<Tensor>{inputs.tensors}); }

Variables own_variables_of(const Layer& layer) {
  std::set<const void*> sublayer_ids;
  for (const LayerPtr& sublayer : layer.sublayers())
    for (const Variable& weight : sublayer->weights()) sublayer_ids.insert(weight.id());
  Variables own_weights = layer.weights();
  std::erase_if(own_weights,
                [&](const Variable& weight) { return sublayer_ids.contains(weight.id()); });
  return own_weights;
}

}  // namespace

void store_variables_by_number(lua_State* L, int store_index, const Layer& layer) {
  store_index = lua_absindex(L, store_index);
  const Variables variables = own_variables_of(layer);
  for (size_t i = 0; i < variables.size(); ++i) {
    push(L, variables[i]);
    lua_setfield(L, store_index, std::to_string(i).c_str());
  }
}

void load_variables_by_number(const Dict& stored_values, const Layer& layer) {
  Variables variables = own_variables_of(layer);
  if (stored_values.size() != variables.size())
    fail_in_layer(layer.name(), "Layer '", layer.name(), "' expected ", variables.size(),
                  " variables, but received ", stored_values.size(), " variables during loading.");
  for (size_t i = 0; i < variables.size(); ++i)
    variables[i].assign(Codec<Tensor>::decode(stored_values.at(std::to_string(i))));
}

Tensors returned_tensors(lua_State* L, int first_result) {
  Tensors tensors;
  for (int i = first_result; i <= lua_gettop(L); ++i) {
    if (lua_isnil(L, i)) continue;
    const Tensors result_tensors = to_tensors(L, i);
    tensors.insert(tensors.end(), result_tensors.begin(), result_tensors.end());
  }
  return tensors;
}

// ---- layers and models

template <class Base>
void LuaLayerOf<Base>::configured() {
  Base::configured();
  if (has("compute_mask")) this->set_supports_masking(true);
  start();
  const Value config = std::exchange(build_config_, Value());
  if (config.is_null()) return;
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, "build_from_config", 0, config);
  track_attributes();
}

template <class Base>
Dict LuaLayerOf<Base>::with_build_config(Dict config) const {
  if (!has("get_build_config")) return config;
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, "get_build_config", 1);
  if (!lua_isnil(L, -1)) config.set(kBuildConfig, to_dict(L, -1));
  return config;
}

template <class Base>
Value LuaLayerOf<Base>::call_structure() const {
  if (const CallOptions* call = this->first_call(); call && !call->structure.is_null())
    return call->structure;
  if constexpr (std::is_same_v<Base, Model>) return this->structures().inputs;
  return {};
}

template <class Base>
std::vector<std::string> LuaLayerOf<Base>::positional_arguments() const {
  std::vector<std::string> declared_names;
  for (const Argument& argument : this->call_arguments()) declared_names.push_back(argument.name);
  if (!has("call")) return declared_names;
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, 8);
  const int function_index = lua_gettop(L) + 1;
  push_self_method(L, "call");
  std::vector<std::string> parameters = parameters_of(L, function_index);
  std::erase_if(parameters,
                [](const std::string& name) { return name == "training" || name == "mask"; });
  const bool are_all_declared =
      std::all_of(parameters.begin(), parameters.end(), [&](const std::string& name) {
        return std::find(declared_names.begin(), declared_names.end(), name) !=
               declared_names.end();
      });
  return declared_names.empty() || (are_all_declared && !parameters.empty()) ? parameters
                                                                             : declared_names;
}

template <class Base>
void LuaLayerOf<Base>::build(const std::vector<Shape>& input_shapes) {
  if (has("build")) {
    struct FlagReset {
      bool& flag;
      ~FlagReset() { flag = false; }
    } reset{is_building_ = true};
    lua_State* L = current();
    StackRestorer restorer(L);
    const int function_index = lua_gettop(L) + 1;
    reserve(L, 8);
    push_self_method(L, "build");
    push_nested(L, call_structure(), input_shapes);
    if (const CallOptions* call = this->first_call())
      push_argument_shapes(L, *call, positional_arguments());
    protected_call(L, lua_gettop(L) - function_index, 0);
    track_attributes();
  }
  if constexpr (std::is_same_v<Base, Model>) Base::build(input_shapes);
}

template <class Base>
Tensors LuaLayerOf<Base>::call(const Tensors& inputs, const Call& call) {
  lua_State* L = current();
  StackRestorer restorer(L);
  // Registers layers that were added to tables since the last call.
  if (is_tracing()) track_attributes();
  const int first_index = lua_gettop(L) + 1;
  reserve(L, 8);
  push_self_method(L, "call");
  Value structure = call.structure;
  if constexpr (std::is_same_v<Base, Model>)
    if (structure.is_null()) structure = this->structures().inputs;
  push_nested(L, structure, inputs);
  push_arguments(L, first_index, call, this->call_arguments());
  protected_call(L, lua_gettop(L) - first_index, LUA_MULTRET);
  const Value results = results_of(L, first_index, *this);
  this->set_output_structure(nested_or_null(structure_of(results)));
  return tensors_of(results);
}

template <class Base>
Tensors LuaLayerOf<Base>::compute_mask(const Tensors& inputs, const Tensors& masks,
                                       const Tensors& outputs) {
  if (!has("compute_mask")) return Base::compute_mask(inputs, masks, outputs);
  lua_State* L = current();
  StackRestorer restorer(L);
  const int first_result = lua_gettop(L) + 1;
  invoke(L, "compute_mask", LUA_MULTRET, PushedInputs{inputs}, PushedInputs{masks});
  return returned_tensors(L, first_result);
}

/// Calls the method reset_states of the class. If the method itself calls reset_states, the
/// reset_states of the base class runs.
template <class Base>
void LuaLayerOf<Base>::reset_states() {
  if (is_resetting_ || !has("reset_states")) return Base::reset_states();
  struct FlagReset {
    bool& flag;
    ~FlagReset() { flag = false; }
  } reset{is_resetting_ = true};
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, "reset_states", 0);
}

template <class Base>
bool LuaLayerOf<Base>::keeps_own_variables() const {
  return has("save_own_variables") || has("load_own_variables");
}

/// The variables that save_own_variables stores. If a class defines only one of save_own_variables
/// and load_own_variables, the missing one stores or reads variables by their numbers, as in Keras.
template <class Base>
Value LuaLayerOf<Base>::own_variables() const {
  lua_State* L = current();
  StackRestorer restorer(L);
  lua_newtable(L);
  const int store_index = lua_gettop(L);
  if (has("save_own_variables")) {
    push_self_method(L, "save_own_variables");
    lua_pushvalue(L, store_index);
    protected_call(L, 2, 0);
  } else {
    store_variables_by_number(L, store_index, *this);
  }
  Dict stored_values;
  for (lua_pushnil(L); lua_next(L, store_index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      fail("save_own_variables(): expected names in the store, got ", describe(L, -2));
    stored_values.set(text_of(L, -2), std::make_shared<BoxedTensor>(to_tensor(L, lua_gettop(L))));
  }
  return stored_values;
}

template <class Base>
void LuaLayerOf<Base>::set_own_variables(const Value& stored_values) {
  if (!has("load_own_variables")) return load_variables_by_number(stored_values.as_dict(), *this);
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, "load_own_variables", 0, stored_values);
}

template <class Base>
bool LuaLayerOf<Base>::keeps_assets() const {
  return has("save_assets") || has("load_assets");
}

template <class Base>
void LuaLayerOf<Base>::call_with_folder(const char* method, const std::string& dir_path) const {
  if (!has(method)) return;
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, method, 0, dir_path);
}

template class LuaLayerOf<Layer>;
template class LuaLayerOf<Model>;

// ---- losses, metrics and other kinds

Tensor LuaDistillationLoss::compute_loss(const Value& teacher_outputs,
                                         const Value& student_outputs) const {
  if (!has("compute_loss")) fail("Subclasses must implement compute_loss");
  return call_for_tensor(*this, "compute_loss", teacher_outputs, student_outputs);
}

template <class F, class... A>
void LuaDistillationLoss::run_check(const char* method, const F& otherwise,
                                    const A&... arguments) const {
  if (is_checking_ || !has(method)) return otherwise();
  struct FlagReset {
    bool& flag;
    ~FlagReset() { flag = false; }
  } reset{is_checking_ = true};
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, method, 0, arguments...);
}

void LuaDistillationLoss::validate_outputs(const Value& teacher_outputs,
                                           const Value& student_outputs) const {
  run_check(
      "validate_outputs",
      [&] { DistillationLoss::validate_outputs(teacher_outputs, student_outputs); },
      teacher_outputs, student_outputs);
}

void LuaDistillationLoss::validate_model_compatibility(const Model& teacher,
                                                       const Model& student) const {
  const auto object_of = [](const Model& model) {
    return std::const_pointer_cast<Object>(model.shared_from_this());
  };
  run_check(
      "validate_model_compatibility",
      [&] { DistillationLoss::validate_model_compatibility(teacher, student); }, object_of(teacher),
      object_of(student));
}

Tensor LuaInitializer::operator()(const Shape& shape, DType dtype) const {
  const Tensor value = call_for_tensor(*this, "call", shape, dtype);
  if (!(value.shape() == shape))
    fail("initializer: expected a tensor of shape ", shape, ", got ", value.shape());
  return ops::cast(value, dtype);
}

Tensor LuaSchedule::operator()(const Tensor& step) const {
  return ops::cast(call_for_tensor(*this, "call", step), DType::float32);
}

void LuaMetric::configured() {
  if (is_function()) {
    total_ = add_variable("total", {});
    count_ = add_variable("count", {});
    return;
  }
  LuaObjectOf<Metric>::configured();
}

/// Makes a variable with the value of the initializer. If a step is being traced, the assignment of
/// this value is not recorded, so that the step does not repeat it. reset_state() later sets the
/// variable to zeros, as in Keras.
Variable LuaMetric::new_variable(std::optional<std::string> name, std::optional<Shape> shape,
                                 DType dtype, const std::shared_ptr<Initializer>& initializer) {
  Variable variable = add_variable(name.value_or("variable"), shape.value_or(Shape{}), dtype);
  if (!initializer) return variable;
  const NoTrace eager;
  variable.assign((*initializer)(variable.shape(), dtype));
  return variable;
}

void LuaMetric::update_state(const Tensor& y_true, const Tensor& y_pred,
                             const Tensor& sample_weight) {
  lua_State* L = current();
  StackRestorer restorer(L);
  if (!is_function()) {
    // Registers variables and metrics that were added to tables since the last update.
    track_attributes();
    return invoke(L, "update_state", 0, y_true, y_pred, sample_weight);
  }
  const Tensor values = ops::cast(call_for_tensor(*this, "call", y_true, y_pred), DType::float32);
  const Tensor weights =
      sample_weight ? ops::broadcast_to(ops::cast(sample_weight, DType::float32), values.shape())
                    : ops::ones_like(values);
  total_.assign_add(ops::sum(values * weights));
  count_.assign_add(ops::sum(weights));
}

Tensor LuaMetric::result() const {
  if (is_function()) return total_.value() / ops::maximum(count_, 1e-7);
  return call_for_tensor(*this, "result");
}

void LuaMetric::reset_state() {
  if (!has("reset_state")) return Metric::reset_state();
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, "reset_state", 0);
}

Direction LuaMetric::direction() const {
  const Value text = attribute("_direction");
  if (text == Value("up")) return Direction::up;
  if (text == Value("down")) return Direction::down;
  if (!text.is_null())
    fail("metric ", name(), ": expected \"up\" or \"down\" as _direction, got ", text);
  return Direction::unknown;
}

// ---- callbacks

void LuaCallback::forward(const CallbackHook& hook, int64_t number, const Logs& logs) {
  const char* const name = has(hook.name) || !hook.older_name ? hook.name : hook.older_name;
  if (!has(name)) return;
  lua_State* L = current();
  StackRestorer restorer(L);
  const PushedLogs pushed_logs{logs, model()};
  hook.number ? invoke(L, name, 0, number, pushed_logs) : invoke(L, name, 0, pushed_logs);
}

Dict LuaCallback::get_state() const {
  if (!has("get_state")) return {};
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, "get_state", 1);
  return to_dict(L, -1);
}

void LuaCallback::set_state(const Dict& state) {
  if (!has("set_state")) return;
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, "set_state", 0, Value(state));
}

/// Calls the hook, then copies values that the hook added to the logs into the history.
void LuaCallback::on_epoch_end(int64_t epoch, Logs& logs) {
  if (!has("on_epoch_end")) return;
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, 8);
  push(L, PushedLogs{logs, model()});
  const int table_index = lua_gettop(L);
  push_self_method(L, "on_epoch_end");
  push(L, epoch);
  lua_pushvalue(L, table_index);
  protected_call(L, 3, 0);
  for (lua_pushnil(L); lua_next(L, table_index); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING && lua_type(L, -1) == LUA_TNUMBER) {
      const std::string name = text_of(L, -2);
      if (!logs.contains(name) || logs.at(name) != lua_tonumber(L, -1))
        logs.set(name, lua_tonumber(L, -1));
    }
}

}  // namespace crescent::lua
