#include "models/models.h"

#include <cmath>

#include "classes/building.h"
#include "classes/lambda_layer.h"
#include "classes/options.h"
#include "crescent/model/flops.h"
#include "crescent/model/rewire.h"
#include "crescent/program/distribution.h"
#include "instances/lua_model.h"
#include "models/cloning.h"
#include "models/model_files.h"
#include "models/quantizing.h"
#include "models/surgery.h"
#include "training/async_runs.h"
#include "training/given_model.h"
#include "training/inspection.h"
#include "training/model_steps.h"
#include "training/model_training.h"
#include "training/plots.h"
#include "training/report.h"
#include "training/stateless.h"
#include "values/batches.h"
#include "values/interruption.h"

namespace crescent::lua {

namespace {

int summary(lua_State* L) {
  auto model = self(L);
  Dict options = options_from(L, 2, schema<SummaryOptions>("summary"));
  const Value print_fn = take_option(options, "print_fn");
  if (!print_fn.is_null() || is_reporting_process())
    print_lines(L, model->summary(options), print_fn);
  return 0;
}

LayerPtr get_layer(Model& model, Value name, std::optional<int64_t> index) {
  if (name.is_int()) index = name.as_int();
  if (!index && name.is_null()) fail("Provide either a layer name or layer index.");
  if (!index) return model.get_layer(name.as_string());
  if (*index < 1) fail("layers count from 1, got ", *index);
  if (const size_t count = model.layers().size(); static_cast<size_t>(*index) > count)
    fail("Was asked to retrieve layer at index ", *index, " but model only has ", count,
         " layers.");
  return model.get_layer(*index - 1);
}

ModelPtr make_from_config(Value config, NamedValueTable objects) {
  return model_from_config(config, custom_objects(objects.dict));
}
ModelPtr from_json(const std::string& json, NamedValueTable objects) {
  return model_from_json(json, custom_objects(objects.dict));
}
std::string model_to_json(Model& model, NamedValueTable options) {
  return model.to_json(options.dict);
}

/// Reads a part of the model's graph: a layer, given as an object or by its name, or a symbol; null
/// for false.
std::variant<LayerPtr, Symbol> graph_part(lua_State* L, int index, const Model& model) {
  if (const Symbol* symbol = to_handle<Symbol>(L, index)) return *symbol;
  if (lua_type(L, index) == LUA_TSTRING) return model.get_layer(text_of(L, index));
  if (lua_isboolean(L, index) && !lua_toboolean(L, index)) return LayerPtr();
  return Read<LayerPtr>::from(L, index);
}

/// Returns the model with layers replaced as the table {[old] = new} says.
std::shared_ptr<Functional> with_replaced_layers(Model& model, Any table,
                                                 std::optional<std::string> name) {
  lua_State* L = current();
  if (!is_plain_table(L, table.index)) fail_expected(L, table.index, "a table {[old] = new}");
  std::vector<Replacement> replacements;
  for (lua_pushnil(L); lua_next(L, table.index); lua_pop(L, 1)) {
    const int top = lua_gettop(L);
    if (lua_type(L, top) == LUA_TSTRING)
      fail("rewire: expected a layer or a symbol in place of ", describe(L, top - 1), ", got ",
           describe(L, top), "; false leaves a layer out");
    replacements.push_back({graph_part(L, top - 1, model), graph_part(L, top, model)});
  }
  const auto* lua_model = dynamic_cast<const LuaModel*>(&model);
  return rewire(lua_model && lua_model->graph() ? *lua_model->graph() : model, replacements,
                name.value_or(""));
}

int64_t rounded_flops(const Model& model) { return std::llround(flops_of(model)); }

void add_structure(HandleType& model) {
  model.property("inputs", &Model::inputs, "The symbols at which the graph begins.")
      .property("outputs", &Model::outputs, "The symbols at which the graph ends.")
      .method("get_layer", &get_layer, {"name: the name of a layer=nil", "index=nil"},
              "A layer by name or by position (from 1).")
      .raw_method("summary -> nothing", summary, {"options: a table with names=nil"},
                  "Prints a table of the layers, or passes its lines to print_fn.",
                  &schema<SummaryOptions>("summary"))
      .method("flops", &rounded_flops, {},
              "The floating-point operations of a forward pass with one sample.")
      .raw_method("plot -> a path, or nothing", plot_model,
                  {"to_file: a path=nil", "options: a table with names=nil"},
                  "Draws the graph of the layers at the terminal or into a file.",
                  &schema<ModelPlot>("plot"))
      .method("to_json", &model_to_json, {"options=nil"},
              "The architecture as JSON text that Keras 3 reads; {target = \"keras2\"}: for Keras "
              "2 and tf.keras.")
      .method("quantize", &quantize_model,
              {"mode: a text or a configuration of cr.quantizers=nil",
               "config: a configuration of cr.quantizers=nil",
               "filters: a list of patterns or a function=nil", "convolutions=false"},
              "Quantizes the largest weights of the layers and freezes them (\"int8\"). `filters` "
              "selects layers whose names match a regular expression or one of a list, or for "
              "which a function of the layer returns true. `convolutions` quantizes Conv1D, Conv2D "
              "and Conv3D too, if they have one group; Keras has no such layers.");
}

}  // namespace

void add_model_types(ObjectTypes& types, const HandleType& layer) {
  HandleType& model = add_type<Model>(types, "model", &layer);
  add_training(model);
  add_inspection(model);
  add_fit_async(model);
  add_structure(model);
  add_surgery(model);
  add_files(model);
  add_steps(model);
  add_stateless_compute_loss(model);
  HandleType& functional = add_type<Functional>(types, "model", &model);
  add_type<Sequential>(types, "model", &functional)
      .method(
          "add", [](Sequential& model, const StackedLayer& stacked) { model.add(stacked.layer); },
          {"layer: a layer"}, "Appends a layer.");
}

const std::vector<CallablePtr>& model_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    auto add = [&](CallablePtr f) { callables.push_back(std::move(f)); };
    add_file_functions(callables);
    add(bound("from_config -> an object of the class", &make_from_config,
              {"config: a table with names", "custom_objects=nil"},
              "A model from what get_config returned."));
    add(bound("model_from_config", &make_from_config,
              {"config: a table with names", "custom_objects=nil"},
              "A model from its configuration."));
    add(bound("model_from_json", &from_json, {"json", "custom_objects=nil"},
              "A model from what to_json returned."));
    add(bound("rewire", &with_replaced_layers,
              {"model", "replacements: a table of tensors by symbol", "name=nil"},
              "A model with the same layers and weights in which some are exchanged: {[old layer, "
              "its name or a symbol] = new layer, symbol, or false to leave the layer out}."));
    add(bound(
        "clone_model", &clone_of,
        {"model", "input_tensors: a symbol or a list of symbols=nil",
         "clone_function: a function=nil", "call_function: a function=nil", "recursive=false"},
        "A model of the same architecture with new weights. clone_function(layer) returns the "
        "layer to use for each one, also for those of nested models if recursive is set; "
        "call_function(layer, inputs, arguments) calls each layer of the copy and may call "
        "others before and after it; input_tensors become the inputs of the copy."));
    return callables;
  }();
  return functions;
}

}  // namespace crescent::lua
