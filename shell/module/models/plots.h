// Methods that draw: history:plot, model:plot. What they draw is gathered in Lua (shell/lua).
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

int plot_history(lua_State* L);

}  // namespace crescent::lua
