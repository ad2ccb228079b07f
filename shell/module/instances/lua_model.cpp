#include "instances/lua_model.h"

#include <algorithm>

#include "values/callable.h"
#include "values/structured.h"

namespace crescent::lua {
namespace {

/// The Lua method of models derived from Sequential (stacks.lua) that adds those layers of the
/// configuration that init has not added.
constexpr const char* kAddKeptLayers = "add_kept_layers";

std::vector<Symbol> endpoints_in(const Value& value, const char* which) {
  for (const Value& leaf : leaves_of(value))
    if (!leaf.object_as<BoxedSymbol>()) fail(which, ": expected a symbol, got ", leaf);
  return symbols_of(value);
}

/// The shapes in the nested form of `structure`, for a configuration. If their number does not fit
/// the structure, one shape or a list of shapes.
Value encoded_shapes(const Value& structure, const std::vector<Shape>& shapes) {
  List list;
  for (const Shape& shape : shapes) list.push_back(Codec<Shape>::encode(shape));
  if (!structure.is_null() && tensor_count(structure) == list.size())
    return packed(structure, list);
  return list.size() == 1 ? list.front() : Value(list);
}

bool is_shape(const Value& value) {
  if (!value.is_list()) return false;
  const List& list = value.as_list();
  return std::all_of(list.begin(), list.end(),
                     [](const Value& size) { return size.is_int() || size.is_null(); });
}

/// The structure of nested shapes, with `true` in the place of each shape; the shapes are appended
/// to `flat_shapes`.
Value structure_of_shapes(const Value& shapes, std::vector<Shape>& flat_shapes) {
  if (is_shape(shapes)) return flat_shapes.push_back(Codec<Shape>::decode(shapes)), Value(true);
  if (shapes.is_list()) {
    List list;
    for (const Value& item : shapes.as_list())
      list.push_back(structure_of_shapes(item, flat_shapes));
    return list;
  }
  if (!shapes.is_dict()) fail("expected shapes, got ", shapes);
  std::vector<std::string> names = shapes.as_dict().keys();
  std::sort(names.begin(), names.end());
  Dict dict;
  for (const std::string& name : names)
    dict.set(name, structure_of_shapes(shapes.as_dict().at(name), flat_shapes));
  return dict;
}

}  // namespace

void LuaModel::configured() {
  has_given_graph_ = has_given_graph_ || !inputs_.is_null() || !outputs_.is_null();
  if (const auto graph = inputs_.object_as<Functional>())
    adopt_graph(graph);
  else if (!inputs_.is_null() || !outputs_.is_null())
    connect(inputs_, outputs_);
  inputs_ = outputs_ = Value();
  const Value shapes = std::exchange(build_input_shape_, Value());
  const bool has_build_config = !build_config_.is_null();
  LuaLayerOf<Model>::configured();
  has_started_ = true;
  if (graph_ && has(kAddKeptLayers)) {
    lua_State* L = current();
    const StackRestorer restorer(L);
    invoke(L, kAddKeptLayers, 0);
  }
  if (!is_graph() && !has_build_config && !shapes.is_null()) build_again(shapes);
}

void LuaModel::build(const std::vector<Shape>& input_shapes) {
  const bool was_graph = is_graph();
  if (graph_ && !was_graph) {
    stack().build(input_shapes);
    track(stack().inputs().front().layer());
  }
  LuaLayerOf<Model>::build(input_shapes);
  if (!was_graph) built_input_shapes_ = encoded_shapes(call_structure(), input_shapes);
}

/// Builds the model by running its call on inputs of these shapes.
void LuaModel::build_again(const Value& shapes) {
  try {
    std::vector<Shape> flat_shapes;
    set_input_structure(structure_of_shapes(shapes, flat_shapes));
    compute_output_shape(flat_shapes);
  } catch (const Error& error) {
    warn("Model ", name(), " could not be built for ", shapes, ": ", error.what(),
         "; call it on data before its weights are loaded");
  }
}

Dict LuaModel::get_config() const {
  Dict config = with_build_config(configuration(base_config()));
  if (!built_input_shapes_.is_null()) config.set("build_input_shape", built_input_shapes_);
  return config;
}

Variables LuaModel::states() const {
  Variables variables;
  for (const auto& optimizer : held_optimizers()) {
    const Variables state = optimizer->state();
    variables.insert(variables.end(), state.begin(), state.end());
  }
  return variables;
}

void LuaModel::connect(const Value& inputs, const Value& outputs) {
  if (graph_) fail_in_layer(name(), "Model ", name(), " has its inputs and outputs already");
  adopt_graph(Functional::make(endpoints_in(inputs, "inputs"), endpoints_in(outputs, "outputs"),
                               Layer::name_.empty() ? "graph" : Layer::name_, true,
                               {structure_of(inputs), structure_of(outputs)}));
}

void LuaModel::adopt_graph(std::shared_ptr<Functional> graph) {
  graph_ = std::move(graph);
  for (const LayerPtr& layer : graph_->operations()) track(layer);
  follow_graph();
  built_ = graph_->is_graph();
}

void LuaModel::become_stack() {
  if (graph_) fail_in_layer(name(), "Model ", name(), " has its layers already");
  adopt_graph(Sequential::make({}, Layer::name_.empty() ? "stack" : Layer::name_));
}

Sequential& LuaModel::stack() const {
  if (auto* stack = dynamic_cast<Sequential*>(graph_.get())) return *stack;
  fail_in_layer(name(), "Model ", name(), " has no stack of layers yet: its init calls that of ",
                "Sequential first, Mine.super.init(self, { ... })");
}

void LuaModel::add(const LayerPtr& layer, bool is_in_config) {
  stack().add(layer);
  track(layer);
  if (is_in_config || has_started_) config_layers_.push_back(layer);
  built_ = is_graph();
}

void LuaModel::pop() {
  const std::vector<LayerPtr> old_layers = stack().layers();
  stack().pop();
  std::erase(config_layers_, old_layers.back());
  const std::vector<LayerPtr> new_layers = stack().layers();
  if (std::find(new_layers.begin(), new_layers.end(), old_layers.back()) == new_layers.end())
    untrack(old_layers.back());
  built_ = is_graph();
}

/// The configurations of the layers in `config_layers_`.
List LuaModel::layer_configs() const {
  const Dict config = graph_->get_config();
  const List& all_configs = config.at("layers").as_list();
  const std::vector<LayerPtr> layers = graph_->operations();
  // 1 if the configurations include that of an InputLayer, else 0
  const size_t input_layer_count = all_configs.size() - layers.size();
  const auto is_kept = [&](size_t i) {
    return std::any_of(config_layers_.begin(), config_layers_.end(), [&](const LayerPtr& layer) {
      return i < input_layer_count ? layer->class_name() == "InputLayer"
                                   : layer == layers[i - input_layer_count];
    });
  };
  List configs;
  for (size_t i = 0; i < all_configs.size(); ++i)
    if (is_kept(i)) configs.push_back(all_configs[i]);
  return configs;
}

/// Registers the graph as a part of the model if losses or metrics were added to the graph.
void LuaModel::follow_graph() {
  const Dict config = graph_->get_config();
  if (config.contains("added_losses") || config.contains("added_metrics")) track(graph_);
}

Tensors LuaModel::call(const Tensors& inputs, const Call& call) {
  if (!graph_ || has("call")) return LuaLayerOf<Model>::call(inputs, call);
  set_output_structure(graph_->structures().outputs);
  return graph_->call(inputs, call);
}

Tensors LuaModel::compute_mask(const Tensors& inputs, const Tensors& masks,
                               const Tensors& outputs) {
  return graph_ && !has("compute_mask") ? graph_->compute_mask(inputs, masks, outputs)
                                        : LuaLayerOf<Model>::compute_mask(inputs, masks, outputs);
}

std::vector<LayerPtr> LuaModel::operations() const {
  return graph_ ? graph_->operations() : Model::operations();
}
std::vector<Symbol> LuaModel::inputs() const {
  return is_graph() ? graph_->inputs() : Model::inputs();
}
std::vector<Symbol> LuaModel::outputs() const {
  return is_graph() ? graph_->outputs() : Model::outputs();
}
std::vector<std::string> LuaModel::input_names() const {
  return is_graph() ? graph_->input_names() : Model::input_names();
}
std::vector<std::string> LuaModel::output_names() const {
  if (is_graph()) return graph_->output_names();
  const std::vector<std::string> keys = keys_of(structures().outputs);
  return keys.empty() ? Model::output_names() : keys;
}
Structures LuaModel::structures() const {
  return is_graph() ? graph_->structures() : Model::structures();
}
std::vector<Symbol> LuaModel::graph_inputs() const {
  return is_graph() ? graph_->inputs() : std::vector<Symbol>();
}
std::vector<Symbol> LuaModel::graph_outputs() const {
  return is_graph() ? graph_->outputs() : std::vector<Symbol>();
}

Dict LuaModel::base_config() const {
  Dict config = Model::get_config();
  if (!config_layers_.empty()) config.set("layers", layer_configs());
  // If init made the graph, it makes the graph again when the model is loaded, so the configuration
  // need not contain the graph.
  if (!has_given_graph_) return config;
  for (const DictEntry& entry : graph_->get_config())
    if (!config.contains(entry.key)) config.set(entry.key, entry.value);
  return config;
}

Dict with_graph(const Dict& options) {
  if (!options.contains("input_layers")) return options;
  const auto graph = make<Functional>("Functional", options);
  const Dict graph_config = graph->get_config();
  Dict result;
  for (const DictEntry& entry : options)
    if (entry.key == "name" || entry.key == "trainable" || !graph_config.contains(entry.key))
      result.set(entry.key, entry.value);
  result.set("inputs", Value(graph));
  return result;
}

}  // namespace crescent::lua
