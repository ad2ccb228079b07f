// Methods and properties of layers.
#include "models/layers.h"

#include "classes/object_types.h"
#include "classes/options.h"
#include "crescent/model/model.h"
#include "instances/lua_model.h"
#include "models/graph.h"
#include "models/quantizing.h"
#include "models/stateless_call.h"
#include "values/batches.h"
#include "values/structured.h"

namespace crescent::lua {
namespace {

/// The index of a node of the layer, converted from its position in Lua, which counts from 1. The
/// error message is that of Keras, but with the position; `what` names the requested value, such as
/// "output".
int node_index(const Layer& layer, int64_t position, const char* what) {
  const auto count = static_cast<int64_t>(layer.inbound_nodes().size());
  if (position < 1) fail("positions of calls count from 1, got ", position);
  if (count > 0 && position > count)
    fail("Asked to get ", what, " at node ", position, ", but the layer has only ", count,
         " inbound nodes.");
  return static_cast<int>(std::min<int64_t>(position - 1, 1 << 30));
}

CallOptions call_options(lua_State* L, int index) {
  CallOptions options;
  if (lua_isnoneornil(L, index)) return options;
  Dict arguments = to_dict(L, index);
  const Value training = take_option(arguments, "training");
  if (!training.is_null()) options.training = training.as_bool();
  options.arguments = std::move(arguments);
  return options;
}

std::vector<Shape> to_shapes(lua_State* L, int index) {
  lua_rawgeti(L, index, 1);
  const bool has_several_shapes = lua_istable(L, -1);
  lua_pop(L, 1);
  return has_several_shapes ? Read<std::vector<Shape>>::from(L, index)
                            : std::vector<Shape>{to_shape(L, index)};
}

Variable add_weight(Layer& layer, std::optional<std::string> name, std::optional<Shape> shape,
                    Value initializer, std::optional<DType> dtype, Value regularizer,
                    bool trainable, Value constraint, bool autocast) {
  WeightOptions options;
  options.dtype = dtype;
  options.trainable = trainable;
  options.autocast = autocast;
  options.regularizer = get<Regularizer>(with_function_objects(regularizer, "regularizer"));
  options.constraint = get<Constraint>(with_function_objects(constraint, "constraint"));
  const crescent::Ref<Initializer> initializer_ref =
      initializer.is_null()
          ? crescent::Ref<Initializer>(
                is_floating(dtype.value_or(layer.variable_dtype())) ? "glorot_uniform" : "zeros")
          : crescent::Ref<Initializer>(
                get<Initializer>(with_function_objects(initializer, "initializer")));
  return layer.add_weight(name.value_or("weight"), shape.value_or(Shape{}), initializer_ref,
                          options);
}

/// Adds a variable; the order of the arguments is that of Keras 3.
Variable add_variable(Layer& layer, const Shape& shape, Value initializer,
                      std::optional<DType> dtype, bool trainable, bool autocast, Value regularizer,
                      Value constraint, std::optional<std::string> name) {
  return add_weight(layer, name.value_or("variable"), shape, initializer, dtype, regularizer,
                    trainable, constraint, autocast);
}

/// Adds a symbol as a loss or a metric to `layer`. Fails unless `layer` is a model with a graph.
template <class Add>
void add_symbol(Layer& layer, const char* method, Add add) {
  if (auto* model = dynamic_cast<Functional*>(&layer)) return add(*model);
  if (auto* model = dynamic_cast<LuaModel*>(&layer); model && model->graph()) {
    add(*model->graph());
    return model->follow_graph();
  }
  fail_in_layer(layer.name(), method, ": symbols are for models made of symbols; Layer ",
                layer.name(), " takes tensors, in call");
}

/// Adds a loss or a list of losses. The argument `inputs`, which Keras 2 needed, is ignored:
/// get_losses_for() finds the inputs on which a loss depends.
void add_loss(Layer& layer, Any losses, Any inputs) {
  lua_State* L = current();
  if (!lua_isnil(L, inputs.index) && !is_symbolic(L, inputs.index)) to_tensors(L, inputs.index);
  if (is_symbolic(L, losses.index)) {
    const auto symbols = Read<std::vector<Symbol>>::from(L, losses.index);
    return add_symbol(layer, "add_loss", [&](Functional& model) {
      for (const Symbol& symbol : symbols) model.add_loss(symbol);
    });
  }
  for (const Tensor& loss : to_tensors(L, losses.index)) layer.add_loss(loss);
}

void add_metric(Layer& layer, Any metric, std::optional<std::string> name) {
  lua_State* L = current();
  if (const auto* symbol = to_handle<Symbol>(L, metric.index))
    return add_symbol(layer, "add_metric",
                      [&](Functional& model) { model.add_metric(*symbol, name.value_or("")); });
  if (auto object = object_as<Metric>(L, metric.index)) return layer.add_metric(object);
  layer.add_metric(to_tensor(L, metric.index), name.value_or("metric"));
}

OneOrMore<Shape> compute_output_shape(Layer& layer, Any shape) {
  if (!is_plain_table(current(), shape.index)) fail_expected(current(), shape.index, "a shape");
  return {layer.compute_output_shape(to_shapes(current(), shape.index))};
}

/// The masks of the outputs when the inputs have the given masks.
OneOrMore<Tensor> compute_mask(Layer& layer, Any inputs, Value masks) {
  lua_State* L = current();
  if (is_symbolic(L, inputs.index))
    fail("compute_mask: expected tensors; symbols bring their masks with them");
  CallOptions options;
  if (!masks.is_null()) options.arguments.set("mask", masks);
  OneOrMore<Tensor> result;
  for (const Tensor& output : layer(to_data(L, inputs.index, {}), options))
    result.items.push_back(output.mask());
  return result;
}

/// Abstract tensors, which have the shapes and dtypes of the outputs but no values.
OneOrMore<Tensor> compute_output_spec(Layer& layer, Any inputs) {
  lua_State* L = current();
  TensorSpecs specs;
  if (is_symbolic(L, inputs.index)) {
    for (const Symbol& symbol : Read<std::vector<Symbol>>::from(L, inputs.index))
      specs.push_back({symbol.dtype(), symbol.shape()});
  } else {
    specs = specs_of(to_data(L, inputs.index, {}));
  }
  OneOrMore<Tensor> result;
  trace(
      [&](const Tensors& abstract_inputs) {
        for (const Tensor& output : layer(abstract_inputs))
          result.items.push_back(output.with_mask({}));
        return Tensors{};
      },
      specs);
  return result;
}

/// Builds the layer for inputs of this shape. Layers whose weights have the same shapes for all
/// inputs are built without a shape, too.
void build(Layer& layer, Any shape) {
  const bool needs_no_shape =
      layer.info() && layer.info()->schema.traits.contains("builds_without_shape");
  const bool has_no_shape = lua_isnoneornil(current(), shape.index) && needs_no_shape;
  if (!has_no_shape && !is_plain_table(current(), shape.index))
    fail_expected(current(), shape.index, "a shape");
  const auto* instance = dynamic_cast<const Instance*>(&layer);
  if (instance && instance->is_building()) return;
  const std::vector<Shape> shapes =
      has_no_shape ? std::vector<Shape>{{-1}} : to_shapes(current(), shape.index);
  layer.build_for(shapes);
  // A class without a build method builds itself in its call, which is run here.
  if (instance && !instance->has("build")) layer.compute_output_shape(shapes);
}

void set_built(Layer& layer, bool built) {
  if (!built && layer.built())
    fail_in_layer(layer.name(), "Layer ", layer.name(),
                  " is built: make a new one instead of building it again");
}

void add_graph_members(HandleType& type) {
  type.property("inbound_nodes", &Layer::inbound_nodes, "The calls of the layer on symbols.")
      .property("outbound_nodes", &Layer::outbound_nodes,
                "The calls of other layers on outputs of this one.")
      .property(
          "input", [](Layer& l) { return OneOrMore<Symbol>{l.input()}; },
          "The input of the only call of the layer on symbols.")
      .property(
          "output", [](Layer& l) { return OneOrMore<Symbol>{l.output()}; },
          "The output of the only call of the layer on symbols.")
      .property(
          "input_shape", [](Layer& l) { return OneOrMore<Shape>{l.input_shape()}; },
          "The shape of the input of the only call.")
      .property(
          "output_shape", [](Layer& l) { return OneOrMore<Shape>{l.output_shape()}; },
          "The shape of the output of the only call.")
      .property("input_mask", &Layer::input_mask, "The mask of the input of the only call.")
      .property("output_mask", &Layer::output_mask, "The mask of the output of the only call.");
  type.method(
          "get_input_at",
          [](Layer& l, int64_t position) {
            return OneOrMore<Symbol>{l.get_input_at(node_index(l, position, "input"))};
          },
          {"node_index"}, "The input of the call with this number.")
      .method(
          "get_output_at",
          [](Layer& l, int64_t position) {
            return OneOrMore<Symbol>{l.get_output_at(node_index(l, position, "output"))};
          },
          {"node_index"}, "The output of the call with this number.")
      .method(
          "get_input_shape_at",
          [](Layer& l, int64_t position) {
            return OneOrMore<Shape>{l.get_input_shape_at(node_index(l, position, "input shape"))};
          },
          {"node_index"}, "The shape of the input of the call with this number.")
      .method(
          "get_output_shape_at",
          [](Layer& l, int64_t position) {
            return OneOrMore<Shape>{l.get_output_shape_at(node_index(l, position, "output shape"))};
          },
          {"node_index"}, "The shape of the output of the call with this number.")
      .method("compute_output_shape", &compute_output_shape,
              {"input_shape: a shape or a structure of them"},
              "The shape of the output for inputs of this shape, found by running the layer "
              "without values.")
      .method("compute_output_spec", &compute_output_spec,
              {"inputs: a symbol or a structure of them"},
              "Symbolic tensors with the shapes and dtypes of the outputs.")
      .method("compute_mask", &compute_mask,
              {"inputs: a tensor or a structure of them",
               "previous_mask: a tensor or a structure of them=nil"},
              "The masks of the outputs, given the masks of the inputs.");
}

void add_state_members(HandleType& type) {
  type.property("built", &Layer::built, &set_built, "Whether the weights have been created.")
      .property(
          "quantization_mode", [](Layer& l) { return quantization_mode(l); },
          "How the largest weight is quantized, or nil.")
      .property(
          "input_spec", [](Layer& l) { return OneOrMore<InputSpec>{l.input_specs()}; },
          [](Layer& l, Any spec) { l.set_input_specs(to_input_specs(current(), spec.index)); },
          "The requirements on the inputs.")
      .property(
          "activity_regularizer", [](Layer& l) { return l.activity_regularizer(); },
          [](Layer& l, Value r) {
            l.set_activity_regularizer(get<Regularizer>(with_function_objects(r, "regularizer")));
          },
          "The penalty on the output.");
}

void add_methods(HandleType& type) {
  type.method(
          "set_weights", [](Layer& l, const Tensors& values) { l.set_weights(values); },
          {"weights: a list of tensors"}, "Assigns these values to the weights.")
      .method("build", &build, {"input_shape: a shape or a structure of them=nil"},
              "Creates the weights for inputs of this shape.")
      .raw_method("call -> a tensor or a structure of them", call_layer,
                  {"inputs: a tensor or a structure of them", "options: a table with names=nil"},
                  "Computes the layer, as calling the layer itself does; a derived class defines "
                  "its own call.")
      .method("quantize", &quantize_layer,
              {"mode: a text or a configuration of cr.quantizers=nil",
               "config: a configuration of cr.quantizers=nil", "convolutions=false"},
              "Quantizes the largest weight and freezes it: \"int8\", or as a configuration of "
              "cr.quantizers says. A Conv1D, Conv2D or Conv3D also needs convolutions = true, "
              "since Keras has no such layers.")
      .method(
          "get_losses_for",
          [](Layer& layer, std::optional<std::vector<Symbol>> inputs) {
            return layer.get_losses_for(inputs.value_or(std::vector<Symbol>()));
          },
          {"inputs=nil"},
          "The losses of the layer that depend on these inputs; without inputs, those that depend "
          "on none.")
      .method("add_weight", &add_weight,
              {"name=nil", "shape=nil",
               "initializer: a name, a configuration or an initializer=nil", "dtype=nil",
               "regularizer: a name, a configuration or a regularizer=nil", "trainable=true",
               "constraint: a name, a configuration or a constraint=nil", "autocast=true"},
              "Creates a variable that belongs to the layer; called in build.")
      .method("add_variable", &add_variable,
              {"shape", "initializer: a name, a configuration or an initializer=nil", "dtype=nil",
               "trainable=true", "autocast=true",
               "regularizer: a name, a configuration or a regularizer=nil",
               "constraint: a name, a configuration or a constraint=nil", "name=nil"},
              "The same as add_weight, with Keras 3's order of arguments.")
      .method(
          "add_loss", &add_loss,
          {"loss: a tensor or a structure of them", "inputs: a tensor or a structure of them=nil"},
          "Adds one or several scalars to the loss that training minimizes: in call, tensors; on a "
          "model, symbols. `inputs` names the inputs on which they depend, as in Keras 2.")
      .method("add_update", &Layer::add_update, {"variable", "value"},
              "Assigns a value to a variable in each training step.")
      .method("add_metric", &add_metric, {"value: a metric or a tensor", "name=nil"},
              "Adds a metric, or the mean of a tensor under a name, to the logs of each step.")
      .method(
          "save_own_variables",
          [](Layer& l, Any store) { store_variables_by_number(current(), store.index, l); },
          {"store: a table with names"},
          "Writes the variables into a table under the keys \"0\", \"1\", ... A derived class may "
          "choose other keys, which files of Keras 3 then have.")
      .method(
          "load_own_variables",
          [](Layer& l, NamedValueTable store) { load_variables_by_number(store.dict, l); },
          {"store"}, "Assigns the variables from the table that save_own_variables filled.");
}

}  // namespace

namespace {

size_t tensor_count_in(const Value& input) { return input.is_dict() ? input.as_dict().size() : 1; }

/// Pushes the next of the results; if `input` is a table with names, pushes a table of the next
/// results under these names. Advances `result`.
template <class T>
void push_next_result(lua_State* L, const Value& input,
                      typename std::vector<T>::const_iterator& result) {
  if (!input.is_dict()) return push(L, *result++);
  std::vector<std::string> names;
  for (const DictEntry& entry : input.as_dict()) names.push_back(entry.key);
  std::sort(names.begin(), names.end());
  lua_createtable(L, 0, static_cast<int>(names.size()));
  for (const std::string& name : names) {
    push(L, *result++);
    lua_setfield(L, -2, name.c_str());
  }
}

/// Pushes the results in a table under the names of the inputs if there is one result per input,
/// else as a list.
template <class T>
void push_named_results(lua_State* L, const Layer& layer, const Dict& inputs,
                        const std::vector<T>& results) {
  size_t count = 0;
  for (const DictEntry& entry : inputs) count += tensor_count_in(entry.value);
  if (results.size() != count) return push(L, OneOrMore<T>{results});
  lua_createtable(L, 0, static_cast<int>(inputs.size()));
  auto result = results.begin();
  for (const Argument& argument : layer.call_arguments()) {
    const Value* value = inputs.find(argument.name);
    if (!value) continue;
    push_next_result<T>(L, *value, result);
    lua_setfield(L, -2, argument.name.c_str());
  }
}

/// Calls the layer on named inputs such as {images = x, labels = y}; the results have the names of
/// the inputs.
void call_on_names(lua_State* L, Layer& layer, CallOptions options) {
  const Dict inputs = to_dict(L, 2);
  for (const DictEntry& entry : inputs) options.arguments.set(entry.key, entry.value);
  const bool has_symbols = std::any_of(inputs.begin(), inputs.end(), [](const DictEntry& entry) {
    return entry.value.object_as<BoxedSymbol>() != nullptr;
  });
  if (has_symbols)
    push_named_results(L, layer, inputs, layer(std::vector<Symbol>{}, options));
  else
    push_named_results(L, layer, inputs, layer(Tensors{}, options));
}

/// Whether all names in the table are names of arguments of the layer (for layers whose inputs are
/// named arguments).
bool names_arguments(lua_State* L, int index, const Layer& layer) {
  if (!is_keywords(L, index)) return false;
  const std::vector<Argument>& arguments = layer.call_arguments();
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const bool is_input_name =
        lua_type(L, -2) == LUA_TSTRING &&
        std::any_of(arguments.begin(), arguments.end(), [&](const Argument& argument) {
          return argument.name == text_of(L, -2) && argument.input;
        });
    if (is_input_name) continue;
    lua_pop(L, 2);
    return false;
  }
  return true;
}

bool is_symbolic(const Value& nested) {
  const List leaves = leaves_of(nested);
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const Value& leaf) { return leaf.object_as<BoxedSymbol>() != nullptr; });
}

/// The inputs in the table at stack index 2. For a model with a graph they are in the order of its
/// inputs, for other layers in the structure of the table.
Value inputs_at(lua_State* L, const Layer& layer) {
  const Value nested = without_list_of_one(nested_at(L, 2));
  const auto* model = dynamic_cast<const Model*>(&layer);
  if (!model || !model->is_graph()) return nested;
  const List inputs = inputs_of_graph(*model, nested);
  return inputs.size() == 1 ? inputs.front() : Value(inputs);
}

/// Calls the layer on a nested structure and pushes the result.
void call_on_structure(lua_State* L, Layer& layer, const Value& nested, CallOptions options) {
  const Value structure = structure_of(nested);
  const bool is_complete = leaves_of(structure).size() == tensor_count(structure);
  if (layer.takes_structures() || !is_complete) options.structure = structure;
  if (is_symbolic(nested)) {
    const std::vector<Symbol> results = layer(symbols_of(nested), options);
    return push_nested(L, results.front().node()->output_structure, results);
  }
  const Tensors results = layer(tensors_of(nested), options);
  push_nested(L, layer.output_structure(), results);
}

}  // namespace

/// Calls a layer with self, inputs and {training=, mask=, ...}; pushes the result.
int call_layer(lua_State* L) {
  if (lua_type(L, 1) == LUA_TUSERDATA && !object_as<Layer>(L, 1))
    fail("expected a layer before the arguments, got ", describe(L, 1),
         ": methods are called with ':', layer:call(...)");
  auto layer = Read<LayerPtr>::from(L, 1);
  if (lua_gettop(L) < 2)
    fail_in_layer(layer->name(), "Layer ", layer->name(), ": called without inputs");
  if (lua_gettop(L) == 2 && lua_isnil(L, 2))
    fail_in_layer(layer->name(), "Layer ", layer->name(),
                  ": expected a tensor, got nil (a layer with several outputs gives them in one "
                  "table: a, b = table.unpack(layer(x)))");
  const int last_index = lua_gettop(L);
  const bool has_options =
      last_index > 2 && (lua_isnil(L, last_index) || is_options(L, last_index));
  CallOptions options = call_options(L, has_options ? last_index : last_index + 1);
  for (int i = 3; i <= last_index - has_options; ++i)
    options.arguments.set(std::to_string(i - 2), to_value(L, i));
  if (names_arguments(L, 2, *layer) || (is_keywords(L, 2) && !layer->takes_structures()))
    call_on_names(L, *layer, options);
  else
    call_on_structure(L, *layer, inputs_at(L, *layer), options);
  return 1;
}

HandleType& add_layer_type(ObjectTypes& types, const HandleType& object) {
  HandleType& layer = add_type<Layer>(types, "layer", &object);
  add_graph_members(layer);
  add_state_members(layer);
  add_methods(layer);
  add_stateless_call(layer);
  layer.meta("__call", raw("call", call_layer));
  return layer;
}

}  // namespace crescent::lua
