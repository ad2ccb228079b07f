#include "workers/worker_state.h"

#include <mutex>

#include "crescent/system/interrupt.h"
#include "lua/state_lock.h"
#include "values/convert.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

lua_CFunction opener = nullptr;

using ProtectedCall = std::function<void(lua_State*)>;

int do_work(lua_State* L, const void* call) {
  (*static_cast<const ProtectedCall*>(call))(L);
  return 0;
}
extern "C" int crescent_work(lua_State* L) {
  const int count = guarded(L, do_work, lua_touserdata(L, 1));
  return count < 0 ? lua_error(L) : count;
}

/// Runs C++ code that calls Lua. Errors of C++ and of Lua become an Error that does not refer to
/// the Lua state.
void protect(lua_State* L, const ProtectedCall& call) {
  const NoSignalHandling no_signal_handling;
  const SeparateState separate_state;
  lua_settop(L, 0);
  lua_pushcfunction(L, crescent_work);
  lua_pushlightuserdata(L, const_cast<ProtectedCall*>(&call));
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
  const std::string message = text_of(L, -1);
  lua_settop(L, 0);
  fail(message);
}

/// A debug hook that stops a function if the thread is interrupted.
extern "C" void stop_if_interrupted(lua_State* L, lua_Debug*) {
  if (interrupted()) luaL_error(L, "interrupted");
}

}  // namespace

void set_opener(lua_CFunction function) { opener = function; }

Element element_from(lua_State* L, int first_index) {
  int last_index = lua_gettop(L);
  while (last_index >= first_index && lua_isnil(L, last_index)) --last_index;
  Element element;
  for (int i = first_index; i <= last_index; ++i) {
    element.push_back(to_value(L, i));
    if (element.back().object_as<LuaFunction>())
      fail("expected tensors, numbers, texts or tables of them, got a function");
  }
  return element;
}

int push_element(lua_State* L, const Element& element) {
  reserve(L, static_cast<int>(element.size()) + 4);
  for (const Value& part : element) push_value(L, part);
  return static_cast<int>(element.size());
}

WorkerState::WorkerState(std::shared_ptr<const CopiedValue> function) : L_(luaL_newstate()) {
  if (!L_) fail("not enough memory for the Lua state of a worker");
  // opening the module writes to tables that the process shares, so only one state is opened at a
  // time
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  try {
    protect(L_, [&](lua_State* L) {
      reserve(L, 10);
      lua_gc(L, LUA_GCGEN, 0, 0);
      luaL_openlibs(L);
      luaL_requiref(L, "crescent", opener, 0);
      lua_setglobal(L, "cr");
      function->push(L);
      function_reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
    });
  } catch (...) {
    lua_close(L_);
    throw;
  }
  constexpr int kInstructionsPerCheck = 10000;
  lua_sethook(L_, stop_if_interrupted, LUA_MASKCOUNT, kInstructionsPerCheck);
}

WorkerState::~WorkerState() { lua_close(L_); }

Element WorkerState::call(const Element& element) {
  Element result;
  protect(L_, [&](lua_State* L) {
    lua_settop(L, 0);
    lua_rawgeti(L, LUA_REGISTRYINDEX, function_reference_);
    const int part_count = push_element(L, element);
    protected_call(L, part_count, LUA_MULTRET);
    if (lua_gettop(L) == 0) fail("the function returned nothing");
    result = element_from(L, 1);
  });
  return result;
}

}  // namespace crescent::lua
