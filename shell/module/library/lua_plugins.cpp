#include "library/lua_plugins.h"

#include <chrono>
#include <cstring>
#include <string>

#include "host/lua_plugins.h"
#include "instances/lua_origin.h"
#include "lua/stack.h"
#include "lua/state.h"

namespace crescent::lua {
namespace {

thread_local lua_State* (*state_maker)() = nullptr;

// the largest number of calls that a message shows, since an endless recursion has too many
constexpr int kMaxCalls = 8;

bool is_main_chunk(const lua_Debug& call, const char* path) {
  return std::strcmp(call.what, "main") == 0 && *call.source == '@' &&
         std::strcmp(call.source + 1, path) == 0;
}

/// A message handler whose upvalue is the path of a plugin: appends to the message the lines of the
/// plugin whose calls led to the error, because the traceback of the script that loaded the plugin
/// lacks them.
int append_calls(lua_State* L) {
  if (lua_type(L, 1) != LUA_TSTRING) return 1;
  lua_settop(L, 1);
  lua_pushliteral(L, "");
  const char* separator = " (at ";
  lua_Debug call;
  for (int level = 1, call_count = 0; call_count < kMaxCalls && lua_getstack(L, level, &call);
       ++level) {
    lua_getinfo(L, "Sl", &call);
    if (call.currentline > 0) {
      lua_pushfstring(L, "%s:%d", call.short_src, call.currentline);
      const bool is_in_message =
          call_count++ == 0 && std::strstr(lua_tostring(L, 1), lua_tostring(L, -1));
      if (is_in_message)
        lua_pop(L, 1), lua_pushliteral(L, "");
      else
        lua_pushstring(L, separator), lua_insert(L, -2), lua_concat(L, 2);
      separator = is_in_message ? " (called from " : ", called from ";
      lua_concat(L, 2);
    }
    if (is_main_chunk(call, lua_tostring(L, lua_upvalueindex(1)))) break;
  }
  if (lua_rawlen(L, 2) > 0) lua_pushliteral(L, ")");
  lua_concat(L, lua_gettop(L));
  return 1;
}

/// While an object of this class lives, Lua code that runs for longer than the time limit fails.
/// Coroutines that the code makes have the limit, too.
class TimeLimit {
 public:
  explicit TimeLimit(lua_State* L)
      : L_(L),
        outer_limit_(innermost_limit),
        hook_(lua_gethook(L)),
        hook_mask_(lua_gethookmask(L)),
        hook_count_(lua_gethookcount(L)) {
    innermost_limit = this;
    lua_sethook(L, check, LUA_MASKCOUNT, kInstructionsPerCheck);
  }
  ~TimeLimit() {
    innermost_limit = outer_limit_;
    // A signal may have set a hook that ends the code.
    if (lua_gethook(L_) == check) lua_sethook(L_, hook_, hook_mask_, hook_count_);
  }
  TimeLimit(const TimeLimit&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLimit{10};
  static constexpr int kInstructionsPerCheck = 10000;
  static inline thread_local TimeLimit* innermost_limit = nullptr;

  static void check(lua_State* L, lua_Debug* event) {
    const TimeLimit* limit = innermost_limit;
    if (!limit) return;
    if (limit->hook_ && limit->hook_ != check) limit->hook_(L, event);
    if (Clock::now() > limit->deadline_)
      luaL_error(L, "it does not come to an end while it is loaded: it was given %d seconds",
                 static_cast<int>(kLimit.count()));
  }

  lua_State* L_;
  TimeLimit* outer_limit_;
  lua_Hook hook_;
  int hook_mask_, hook_count_;
  Clock::time_point deadline_ = Clock::now() + kLimit;
};

void run_plugin(const PluginRecord& plugin) {
  lua_State* L = state_for_lua_plugins();
  const std::string& path = plugin.path;
  const RunningLuaPlugin running_plugin(plugin);
  const TimeLimit time_limit(L);
  const StackRestorer restorer(L);
  reserve(L, 4);
  lua_pushlstring(L, path.data(), path.size());
  lua_pushcclosure(L, append_calls, 1);
  const int handler_index = lua_gettop(L);
  push_global(L, "dofile");
  lua_pushlstring(L, path.data(), path.size());
  protected_call(L, 1, 0, handler_index);
}

}  // namespace

void enable_lua_plugins() { set_lua_runner(run_plugin); }

void enable_lua_plugins_in_own_state(lua_State* (*make_state)()) {
  state_maker = make_state;
  enable_lua_plugins();
}

lua_State* state_for_lua_plugins() {
  if (!current_or_null() && state_maker) set_current_thread(state_maker());
  return current();
}

}  // namespace crescent::lua
