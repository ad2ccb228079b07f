#include "coroutines.h"

#include "signals.h"

namespace crescent::program {
namespace {

/// Records that `thread` runs, resumed by `caller`, while the object exists.
class CoroutineScope {
 public:
  CoroutineScope(lua_State* caller, lua_State* thread)
      : caller_(caller), call_{thread, innermost_coroutine()} {
    pass_signals(caller_, thread);
    innermost_coroutine() = &call_;
  }
  ~CoroutineScope() {
    innermost_coroutine() = call_.enclosing_call;
    pass_stop(call_.thread, caller_);
  }
  CoroutineScope(const CoroutineScope&) = delete;

 private:
  lua_State* caller_;
  RunningCoroutine call_;
};

/// Moves values from the top of one stack to another; returns false if there is no space for them.
bool move_values(lua_State* from, lua_State* to, int count) {
  if (!lua_checkstack(to, count + 1)) return false;
  lua_xmove(from, to, count);
  return true;
}

/// Resumes the coroutine with the top `argument_count` values of the stack, and pushes what it
/// returns or yields. Returns the number of these values, or -1 after it pushed an error.
int resume_recorded(lua_State* L, lua_State* thread, int argument_count) {
  if (!move_values(L, thread, argument_count)) return lua_pushliteral(L, "too many arguments"), -1;
  const CoroutineScope scope(L, thread);
  int result_count = 0;
  const int status = lua_resume(thread, L, argument_count, &result_count);
  if (status != LUA_OK && status != LUA_YIELD) return lua_xmove(thread, L, 1), -1;
  if (move_values(thread, L, result_count)) return result_count;
  lua_pop(thread, result_count);
  return lua_pushliteral(L, "too many results"), -1;
}

/// Implements coroutine.resume.
int resume(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTHREAD);
  const int result_count = resume_recorded(L, lua_tothread(L, 1), lua_gettop(L) - 1);
  if (result_count < 0 && is_stopped(L)) return lua_error(L);
  const int value_count = result_count < 0 ? 1 : result_count;
  lua_pushboolean(L, result_count >= 0);
  lua_insert(L, -value_count - 1);
  return value_count + 1;
}

/// Calls a function that coroutine.wrap made; its upvalue is the coroutine. An error closes the
/// variables of the coroutine and gets the position of the caller.
int call_wrapped(lua_State* L) {
  lua_State* thread = lua_tothread(L, lua_upvalueindex(1));
  const int result_count = resume_recorded(L, thread, lua_gettop(L));
  if (result_count >= 0) return result_count;
  const int status = lua_status(thread);
  if (status != LUA_OK && status != LUA_YIELD && lua_resetthread(thread) != LUA_OK)
    lua_xmove(thread, L, 1);
  if (lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/// Implements coroutine.wrap.
int wrap(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State* thread = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, thread, 1);
  lua_pushcclosure(L, call_wrapped, 1);
  return 1;
}

/// Sets a field of the table on top of the stack.
void set_function(lua_State* L, const char* name, lua_CFunction function) {
  lua_pushcfunction(L, function);
  lua_setfield(L, -2, name);
}

}  // namespace

RunningCoroutine* volatile& innermost_coroutine() {
  thread_local RunningCoroutine* volatile innermost_call = nullptr;
  return innermost_call;
}

void record_coroutines(lua_State* L) {
  lua_getglobal(L, LUA_COLIBNAME);
  set_function(L, "resume", resume);
  set_function(L, "wrap", wrap);
  lua_pop(L, 1);
}

}  // namespace crescent::program
