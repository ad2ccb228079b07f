#include "whole_state.h"

#include <cstdio>

#include "crescent/base/error.h"
#include "lua_state.h"
#include "module/background/background.h"
#include "module/values/interruption.h"
#include "signals.h"

namespace crescent::program {
namespace {

using Body = std::function<int(lua_State*)>;

/// Stops runs in the background, as run:stop() does, and reports their errors.
void end_runs() try {
  lua::stop_runs();
  for (const std::string& error : lua::unreported_errors_of_runs())
    std::fprintf(stderr, "crescent: %s\n", printable(error).c_str());
} catch (const Error& error) {
  std::fprintf(stderr, "crescent: %s\n", printable(error.what()).c_str());
}

/// Opens the libraries and calls the body, whose address is the argument on the stack. Runs in a
/// protected call.
int run_protected(lua_State* L) {
  const auto& body = *static_cast<const Body*>(lua_touserdata(L, 1));
  lua_settop(L, 0);
  lua_gc(L, LUA_GCSTOP);  // Opening the libraries leaves no garbage, so no collection is needed.
  open_libraries(L);
  lua_gc(L, LUA_GCRESTART);
  const int status = body(L);
  end_runs();
  lua_pushinteger(L, status);
  return 1;
}

}  // namespace

int run_in_lua(const Body& body) {
  lua_State* L = luaL_newstate();
  if (!L) fail("not enough memory for Lua");
  lua_gc(L, LUA_GCGEN, 0, 0);  // The generational mode frees temporary tensors soon.
  lua_pushcfunction(L, run_protected);
  lua_pushlightuserdata(L, const_cast<Body*>(&body));
  const bool succeeded = lua_pcall(L, 1, 1, 0) == LUA_OK;
  if (!succeeded) report(L);
  const int status = succeeded ? static_cast<int>(lua_tointeger(L, -1)) : 1;
  const bool is_stopped = status != 0 && stop_signal() != 0;
  // After a signal, ends the process within two seconds even if threads never end.
  if (is_stopped) lua::end_soon(stop_signal());
  lua_close(L);
  return is_stopped ? 128 + stop_signal() : status;
}

}  // namespace crescent::program
