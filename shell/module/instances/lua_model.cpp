#include "instances/lua_model.h"

#include <map>

#include "values/callable.h"

namespace crescent::lua {
namespace {

struct Ends {
  std::vector<Symbol> symbols;
  std::vector<std::string> keys;  ///< none: by position
};

Symbol symbol_in(const Value& value, const char* which) {
  const auto boxed = value.object_as<BoxedSymbol>();
  if (!boxed) fail(which, ": expected a symbol, got ", value);
  return boxed->symbol;
}

Ends ends_in(const Value& value, const char* which) {
  Ends ends;
  if (value.is_dict())
    for (const DictEntry& entry : value.as_dict()) {
      ends.keys.push_back(entry.key);
      ends.symbols.push_back(symbol_in(entry.value, which));
    }
  else if (value.is_list())
    for (const Value& item : value.as_list()) ends.symbols.push_back(symbol_in(item, which));
  else
    ends.symbols.push_back(symbol_in(value, which));
  return ends;
}

/// A shape, or a list of shapes.
Value encoded(const std::vector<Shape>& shapes) {
  List list;
  for (const Shape& shape : shapes) list.push_back(Codec<Shape>::encode(shape));
  return list.size() == 1 ? list.front() : Value(list);
}

std::vector<Shape> decoded(const Value& shapes) {
  const List& list = shapes.as_list();
  const bool several = !list.empty() && list.front().is_list();
  std::vector<Shape> result;
  for (const Value& shape : several ? list : List{shapes})
    result.push_back(Codec<Shape>::decode(shape));
  return result;
}

}  // namespace

void LuaModel::configured() {
  given_ = given_ || !inputs_.is_null() || !outputs_.is_null();
  if (const auto graph = inputs_.object_as<Functional>())
    adopt_graph(graph);
  else if (!inputs_.is_null() || !outputs_.is_null())
    connect(inputs_, outputs_);
  inputs_ = outputs_ = Value();
  const Value shapes = std::exchange(build_input_shape_, Value());
  const bool builds_itself = !build_config_.is_null();
  LuaLayerOf<Model>::configured();
  if (!graph_ && !builds_itself && shapes.is_list()) build_again(shapes);
}

void LuaModel::build(const std::vector<Shape>& inputs) {
  LuaLayerOf<Model>::build(inputs);
  if (!graph_) built_for_ = encoded(inputs);
}

/// The parts that call uses are built by running it.
void LuaModel::build_again(const Value& shapes) {
  try {
    compute_output_shape(decoded(shapes));
  } catch (const Error& error) {
    warn("Model ", name(), " could not be built for ", shapes, ": ", error.what(),
         "; call it on data before its weights are loaded");
  }
}

Dict LuaModel::get_config() const {
  Dict config = with_build_config(configuration(base_config()));
  if (!built_for_.is_null()) config.set("build_input_shape", built_for_);
  return config;
}

void LuaModel::connect(const Value& inputs, const Value& outputs) {
  if (graph_) fail_in_layer(name(), "Model ", name(), " has its inputs and outputs already");
  const Ends from = ends_in(inputs, "inputs"), to = ends_in(outputs, "outputs");
  adopt_graph(Functional::make(from.symbols, to.symbols,
                               Layer::name_.empty() ? "graph" : Layer::name_, true,
                               {from.keys, to.keys}));
}

void LuaModel::adopt_graph(std::shared_ptr<Functional> graph) {
  graph_ = std::move(graph);
  for (const LayerPtr& layer : graph_->layers()) track(layer);
  follow_graph();
  built_ = true;
}

/// What is added beside the outputs belongs to the graph, which then is a part of the model.
void LuaModel::follow_graph() {
  const Dict config = graph_->get_config();
  if (config.contains("added_losses") || config.contains("added_metrics")) track(graph_);
}

Tensors LuaModel::call(const Tensors& inputs, const Call& call) {
  return graph_ && !has("call") ? graph_->call(inputs, call)
                                : LuaLayerOf<Model>::call(inputs, call);
}

Tensors LuaModel::results(lua_State* L, int first) {
  output_keys_.clear();
  if (lua_gettop(L) != first || !is_keywords(L, first)) return LuaLayerOf<Model>::results(L, first);
  std::map<std::string, Tensor> named;
  for (lua_pushnil(L); lua_next(L, first); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      fail("call(): expected outputs by position or by name, got both");
    named[text_of(L, -2)] = to_tensor(L, lua_gettop(L));
  }
  Tensors outputs;
  for (const auto& [name, output] : named) {
    output_keys_.push_back(name);
    outputs.push_back(output);
  }
  return outputs;
}

Tensors LuaModel::compute_mask(const Tensors& inputs, const Tensors& masks,
                               const Tensors& outputs) {
  return graph_ && !has("compute_mask") ? graph_->compute_mask(inputs, masks, outputs)
                                        : LuaLayerOf<Model>::compute_mask(inputs, masks, outputs);
}

std::vector<LayerPtr> LuaModel::layers() const {
  return graph_ ? graph_->layers() : Model::layers();
}
std::vector<Symbol> LuaModel::inputs() const { return graph_ ? graph_->inputs() : Model::inputs(); }
std::vector<Symbol> LuaModel::outputs() const {
  return graph_ ? graph_->outputs() : Model::outputs();
}
std::vector<std::string> LuaModel::input_names() const {
  return graph_ ? graph_->input_names() : Model::input_names();
}
std::vector<std::string> LuaModel::output_names() const {
  if (graph_) return graph_->output_names();
  return output_keys_.empty() ? Model::output_names() : output_keys_;
}
std::vector<Symbol> LuaModel::graph_inputs() const {
  return graph_ ? graph_->inputs() : std::vector<Symbol>();
}
std::vector<Symbol> LuaModel::graph_outputs() const {
  return graph_ ? graph_->outputs() : std::vector<Symbol>();
}

Dict LuaModel::base_config() const {
  Dict config = Model::get_config();
  if (!given_) return config;  // what init connects, it connects again
  for (const DictEntry& entry : graph_->get_config())
    if (!config.contains(entry.key)) config.set(entry.key, entry.value);
  return config;
}

Dict with_graph(const Dict& options) {
  if (!options.contains("input_layers")) return options;
  const auto graph = make<Functional>("Functional", options);
  const Dict of_graph = graph->get_config();
  Dict result;
  for (const DictEntry& entry : options)
    if (entry.key == "name" || entry.key == "trainable" || !of_graph.contains(entry.key))
      result.set(entry.key, entry.value);
  result.set("inputs", Value(graph));
  return result;
}

}  // namespace crescent::lua
