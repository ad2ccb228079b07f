// Methods that draw figures: history:plot and model:plot. Lua libraries (shell/lua) collect the
// data of the figures.
#pragma once
#include <lua.hpp>
#include <optional>
#include <string>

#include "crescent/registry/schema.h"

namespace crescent::lua {

struct HistoryPlot {
  Value metrics;
  std::optional<std::string> title, ylabel, file;
  std::optional<int64_t> width, height;
  static void describe(Schema<HistoryPlot>& s);
};

/// The options of Keras' plot_model.
struct ModelPlot {
  std::optional<std::string> to_file;
  bool show_shapes = false, show_dtype = false, show_layer_names = true;
  std::string rankdir = "TB";
  bool expand_nested = false;
  int64_t dpi = 200;
  bool show_layer_activations = false, show_trainable = false;
  std::string splines = "ortho";
  static void describe(Schema<ModelPlot>& s);
};

int plot_model(lua_State* L);
int plot_history(lua_State* L);

}  // namespace crescent::lua
