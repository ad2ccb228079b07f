#include "library/lua_plugins.h"

#include <string>

#include "host/lua_plugins.h"
#include "lua/stack.h"
#include "lua/state.h"

namespace crescent::lua {
namespace {

thread_local lua_State* (*starter)() = nullptr;

void run_file(const std::string& path) {
  lua_State* L = state_for_lua_plugins();
  const Height height(L);
  push_global(L, "dofile");
  lua_pushlstring(L, path.data(), path.size());
  protected_call(L, 1, 0);
}

}  // namespace

void run_lua_plugins() { set_lua_runner(run_file); }

void start_for_lua_plugins(lua_State* (*start)()) {
  starter = start;
  run_lua_plugins();
}

lua_State* state_for_lua_plugins() {
  if (!current_or_null() && starter) stay_current(starter());
  return current();
}

}  // namespace crescent::lua
