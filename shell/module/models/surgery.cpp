#include "models/surgery.h"

#include "crescent/model/surgery.h"
#include "instances/lua_model.h"
#include "training/given_model.h"
#include "training/report.h"

namespace crescent::lua {
/// The changes that a method made to a graph. In Lua this is a list of rows that prints as a table.
struct SurgeryReport {
  std::vector<LayerChange> changes;
};

namespace {

List sizes_of(const Shape& shape) {
  List sizes;
  for (int axis = 0; axis < shape.rank(); ++axis) sizes.push_back(shape[axis]);
  return sizes;
}

List shapes_list(const std::vector<Shape>& shapes) {
  List list;
  for (const Shape& shape : shapes) list.push_back(sizes_of(shape));
  return list;
}

Dict row_of(const LayerChange& change) {
  return {{"layer", change.layer},
          {"change", change.change},
          {"before", shapes_list(change.before)},
          {"after", shapes_list(change.after)},
          {"weights", change.weights}};
}

}  // namespace

static void push(lua_State* L, const SurgeryReport& report) {
  List rows;
  for (const LayerChange& change : report.changes) rows.push_back(row_of(change));
  push_report(L, rows, join(change_lines(report.changes), "\n"));
}

namespace {

using ModelAndReport = std::tuple<ModelPtr, SurgeryReport>;

ModelAndReport model_and_report(SurgeryResult surgery) {
  return {surgery.model, {std::move(surgery.changes)}};
}

/// The model that holds the graph: for a model whose class is written in Lua the graph inside it,
/// else the model itself.
const Model& graph_of(const Model& model) {
  const auto* lua_model = dynamic_cast<const LuaModel*>(&model);
  return lua_model && lua_model->graph() ? static_cast<const Model&>(*lua_model->graph()) : model;
}

/// The path of the layer at `index`, which is given as an object, as a path or by its name.
std::string path_at(const Model& model, int index) {
  lua_State* L = current();
  if (lua_type(L, index) == LUA_TSTRING) return text_of(L, index);
  const LayerPtr layer = Read<LayerPtr>::from(L, index);
  if (model.get_layer(layer->name()) != layer)
    fail("model ", model.name(), " has another layer of the name '", layer->name(), "'");
  return layer->name();
}

ModelAndReport model_with_layer(Model& model, Any after, const LayerPtr& layer) {
  return model_and_report(insert_after(graph_of(model), path_at(model, after.index), layer));
}

ModelAndReport model_with_replaced_layer(Model& model, Any old_layer, const LayerPtr& layer,
                                         bool copy_weights) {
  return model_and_report(
      replace_layer(graph_of(model), path_at(model, old_layer.index), layer, copy_weights));
}

ModelAndReport model_without_layer(Model& model, Any layer) {
  return model_and_report(remove_layer(graph_of(model), path_at(model, layer.index)));
}

/// Fails if the table at `index` contains a name that is not an option of cut. Otherwise the table
/// would be taken for a list of layers.
void refuse_unknown_options(lua_State* L, int index) {
  static const std::vector<std::string> kOptions{"to", "from"};
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING) {
      const std::string name = text_of(L, -2);
      fail("cut: no option '", name, "'", did_you_mean(name, kOptions));
    }
}

/// The layer paths at `index`, given as a string, a layer, or a list of these.
std::vector<std::string> paths_at(const Model& model, int index) {
  lua_State* L = current();
  if (lua_isnoneornil(L, index)) return {};
  if (!is_plain_table(L, index)) return {path_at(model, index)};
  refuse_unknown_options(L, index);
  std::vector<std::string> paths;
  for (lua_Integer i = 1; lua_rawgeti(L, index, i) != LUA_TNIL; ++i) {
    paths.push_back(path_at(model, lua_gettop(L)));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return paths;
}

ModelAndReport cut_model(Model& model, Any to, Any from) {
  const std::vector<std::string> first_paths = paths_at(model, from.index),
                                 last_paths = paths_at(model, to.index);
  if (first_paths.size() > 1) fail("cut: from: expected one layer, got ", first_paths.size());
  if (first_paths.empty() && last_paths.empty())
    fail("cut: expected a layer to cut at: to, from or both");
  return model_and_report(
      cut(graph_of(model), first_paths.empty() ? "" : first_paths.front(), last_paths));
}

/// The symbols at `index`: the outputs of a model, a symbol or a list of symbols.
std::vector<Symbol> symbols_at(int index) {
  lua_State* L = current();
  if (const auto model = object_as<Model>(L, index)) return model->outputs();
  if (!is_plain_table(L, index) && !to_handle<Symbol>(L, index))
    fail_expected(L, index, "a model, a symbol or a list of symbols as 'inputs'");
  return Read<std::vector<Symbol>>::from(L, index);
}

ModelAndReport model_with_inputs(Model& model, Any inputs) {
  return model_and_report(rebase(graph_of(model), symbols_at(inputs.index)));
}

}  // namespace

void add_surgery(HandleType& model) {
  model
      .method(
          "insert_after -> a model, a report of the changes", &model_with_layer,
          {"after: a layer, its name or path", "layer"},
          "A copy of the model in which the layer follows an existing one (a name, a path through "
          "nested models, or the layer itself), and a report of the changes. Layers and weights "
          "are shared; a compiled model stays compiled, and its optimizer keeps its state.")
      .method(
          "replace -> a model, a report of the changes", &model_with_replaced_layer,
          {"old: a layer, its name or path", "layer", "weights=true"},
          "A copy of the model in which the new layer replaces an existing one, and a report. With "
          "`weights`, its weights take the values of the old ones with the same name and shape.")
      .method("remove -> a model, a report of the changes", &model_without_layer,
              {"layer: a layer, its name or path"},
              "A copy of the model without this layer, which must have one input and one output, "
              "and a report.")
      .method(
          "cut -> a model, a report of the changes", &cut_model,
          {"to: a layer or a list of them=nil", "from: a layer, its name or path=nil"},
          "The part of the model that ends with the outputs of a layer or of a list of layers and, "
          "with `from`, begins with new inputs of that layer; the second result is a report.")
      .method("rebase -> a model, a report of the changes", &model_with_inputs,
              {"inputs: a symbol, a list of them, or a model"},
              "A copy of the model with the same layers on other inputs (a symbol, a list of "
              "symbols, or a model whose outputs are used), and a report.");
}

}  // namespace crescent::lua
