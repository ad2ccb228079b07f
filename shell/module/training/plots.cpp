#include "training/plots.h"

#include "classes/options.h"
#include "instances/instance.h"
#include "library/scripts.h"
#include "values/push.h"

namespace crescent::lua {
namespace {

/// Calls the Lua function `body`, which draws a figure, with the object and its options.
int plot(lua_State* L, const char* body, const Dict& options) {
  lua_settop(L, 1);
  push_value(L, Value(options));
  return call_script_method(L, body);
}

}  // namespace

void HistoryPlot::describe(Schema<HistoryPlot>& s) {
  using O = HistoryPlot;
  s.doc("What is drawn, and where.")
      .field("metrics", &O::metrics,
             "Names of the logs to draw, with their validation values; all when not given.")
      .field("title", &O::title, "Title above the figure.")
      .field("ylabel", &O::ylabel, "Label of the y axis.")
      .field("file", &O::file,
             "A path that ends in .svg, .png or .txt; without one the figure is drawn at the "
             "terminal.")
      .field("width", &O::width, "Width in pixels, or in columns of the terminal.")
      .min(1)
      .field("height", &O::height, "Height in pixels, or in lines of the terminal.")
      .min(1);
}

void ModelPlot::describe(Schema<ModelPlot>& s) {
  using O = ModelPlot;
  s.doc("What is drawn of the graph, and where.")
      .field("to_file", &O::to_file,
             "A path that ends in .svg, .png, .txt or .dot; without one the graph is drawn at the "
             "terminal.")
      .field("show_shapes", &O::show_shapes, "Show the shapes of the outputs.")
      .field("show_dtype", &O::show_dtype, "Show the dtypes of the outputs.")
      .field("show_layer_names", &O::show_layer_names, "Show the names of the layers.")
      .field("rankdir", &O::rankdir, "Direction of the graph: TB (top to bottom), BT, LR or RL.")
      .choices({"TB", "BT", "LR", "RL"})
      .field("expand_nested", &O::expand_nested, "Show the layers of nested models.")
      .field("dpi", &O::dpi, "Resolution of a PNG in dots per inch.")
      .min(1)
      .field("show_layer_activations", &O::show_layer_activations,
             "Show the activation functions of the layers.")
      .field("show_trainable", &O::show_trainable, "Show which layers are trainable.")
      .field("splines", &O::splines, "The style of edges in a .dot file, as in Graphviz.");
}

int plot_model(lua_State* L) {
  ModelPlot plot_options;
  const SchemaData& schema = schema_of<ModelPlot>("plot");
  schema.configure(&plot_options, options_from(L, 2, schema));
  return plot(L, "model.plot", schema.read(&plot_options));
}

namespace {

/// Replaces the list argument {"loss", "mae"} by the options {metrics = {"loss", "mae"}}.
void gather_metrics(lua_State* L) {
  if (lua_gettop(L) != 2 || !lua_istable(L, 2) || lua_rawlen(L, 2) < 2) return;
  lua_newtable(L);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, lua_isinteger(L, -2) ? 4 : 3);
  }
  lua_setfield(L, 3, "metrics");
  lua_replace(L, 2);
}

}  // namespace

int plot_history(lua_State* L) {
  gather_metrics(L);
  return plot(L, "history.plot", options_from(L, 2, schema_of<HistoryPlot>("plot")));
}

}  // namespace crescent::lua
