#include "models/plots.h"

#include "classes/options.h"
#include "instances/instance.h"
#include "library/scripts.h"
#include "values/push.h"

namespace crescent::lua {
namespace {

/// Calls the body with the object and its options.
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
             "Names of logs, with those of validation beside them; all when not given.")
      .field("title", &O::title, "Above the figure.")
      .field("ylabel", &O::ylabel, "What the values are.")
      .field("file", &O::file,
             "A path that ends in .svg, .png or .txt; the terminal when not given.")
      .field("width", &O::width, "In pixels; in columns at the terminal.")
      .min(1)
      .field("height", &O::height, "In pixels; in lines at the terminal.")
      .min(1);
}

int plot_history(lua_State* L) {
  return plot(L, "history.plot", options_from(L, 2, schema_of<HistoryPlot>("plot")));
}

}  // namespace crescent::lua
