#include "lua/state.h"

#include <cxxabi.h>

#include <cstring>

namespace crescent::lua {
namespace {

thread_local lua_State* current_thread = nullptr;
thread_local int callback_depth = 0;
const char host_key = 0;

using HostPtr = std::shared_ptr<Host>;

HostPtr host_of(lua_State* L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &host_key);
  HostPtr host = *static_cast<HostPtr*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return host;
}

extern "C" int close_host(lua_State* L) {
  auto* host = static_cast<HostPtr*>(lua_touserdata(L, 1));
  (*host)->main = nullptr;
  host->~HostPtr();
  return 0;
}

/// While an object of this class exists, current() returns the Lua thread given to it.
class CallScope {
 public:
  explicit CallScope(lua_State* L) : previous_thread_(current_thread) { current_thread = L; }
  ~CallScope() { current_thread = previous_thread_; }

 private:
  lua_State* previous_thread_;
};

/// Whether the called function is in a part of the module that is written in Lua.
bool is_in_module(const lua_Debug& frame) {
  return std::strncmp(frame.short_src, "crescent/", 9) == 0;
}

/// Pushes the location of the call; if it is in a Lua library, the location in the user's code that
/// led to it.
void push_location(lua_State* L) {
  lua_Debug frame;
  bool is_inside_module = false;
  for (int level = 1; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    is_inside_module = is_inside_module || is_in_module(frame);
    if (!is_inside_module) break;
    if (frame.currentline > 0 && !is_in_module(frame))
      return void(lua_pushfstring(L, "%s:%d: ", frame.short_src, frame.currentline));
  }
  luaL_where(L, 1);
}

/// Pushes the location of the call and the message, as error messages of Lua have them. In nested
/// calls the location is added only once.
void push_message(lua_State* L, const char* message) {
  push_location(L);
  const std::string_view location = lua_tostring(L, -1), text = message;
  lua_pushstring(L, message);
  text.starts_with(location) ? lua_remove(L, -2) : lua_concat(L, 2);
}

/// Whether the current exception is a Lua error of a Lua built as C++, which throws a pointer to a
/// private type.
bool is_error_of_lua() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return type && std::strcmp(type->name(), "P11lua_longjmp") == 0;
}

}  // namespace

void open_host(lua_State* L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State* main = lua_tothread(L, -1);
  lua_pop(L, 1);
  new (lua_newuserdatauv(L, sizeof(HostPtr), 0)) HostPtr(new Host{main});
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, close_host);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &host_key);
}

lua_State* current() {
  if (!current_thread) fail("a Lua function can only be called on the thread that runs Lua");
  return current_thread;
}

lua_State* current_or_null() { return current_thread; }

void set_current_thread(lua_State* L) { current_thread = L; }

bool is_in_callback() { return callback_depth > 0; }

// ---- references to values of Lua

struct Ref::Slot {
  HostPtr host;
  int number;
  ~Slot() {
    if (host->main) luaL_unref(host->main, LUA_REGISTRYINDEX, number);
  }
};

Ref::Ref(lua_State* L, int index) {
  lua_pushvalue(L, index);
  slot_ = std::make_shared<Slot>(host_of(L), luaL_ref(L, LUA_REGISTRYINDEX));
}

void Ref::push(lua_State* L) const {
  if (!slot_) return lua_pushnil(L);
  if (!slot_->host->main) fail("the Lua state that this value belongs to is closed");
  lua_rawgeti(L, LUA_REGISTRYINDEX, slot_->number);
}

void LuaError::push(lua_State* L) const {
  value_.push(L);
  if (lua_type(L, -1) != LUA_TSTRING || raised_message_ == what()) return;
  lua_pop(L, 1);
  push_message(L, what());
}

// ---- calls

void protected_call(lua_State* L, int argument_count, int result_count, int handler) {
  ++callback_depth;
  const int status = lua_pcall(L, argument_count, result_count, handler);
  --callback_depth;
  if (status == LUA_OK) return;
  Ref value(L, -1);
  std::string message = text_of(L, -1);
  lua_pop(L, 1);
  throw LuaError(std::move(message), std::move(value));
}

int guarded(lua_State* L, Body body, const void* object) {
  const CallScope scope(L);
  try {
    return body(L, object);
  } catch (const LuaError& error) {
    error.push(L);
  } catch (...) {
    if (is_error_of_lua()) throw;
    push_message(L, exception_text().c_str());
  }
  return -1;
}

}  // namespace crescent::lua
