// The logs that a hook of a callback gets, as a table of Lua.
#pragma once
#include "crescent/model/callback.h"
#include "values/structured.h"

namespace crescent::lua {

/// Logs that push() pushes as a table {name = number}. The outputs of a batch of predict become the
/// field `outputs`, nested like the outputs of `model`, which may be null.
struct PushedLogs {
  const Logs& logs;
  std::shared_ptr<Model> model;
};

inline void push(lua_State* L, const PushedLogs& pushed_logs) {
  lua_newtable(L);
  for (const auto& [name, value] : pushed_logs.logs.values()) {
    push_float(L, value);
    lua_setfield(L, -2, name.c_str());
  }
  if (pushed_logs.logs.outputs().empty()) return;
  push_nested(L, pushed_logs.model ? pushed_logs.model->structures().outputs : Value(),
              pushed_logs.logs.outputs());
  lua_setfield(L, -2, "outputs");
}

}  // namespace crescent::lua
