#include "golden/applications/from_lua.h"

#include <lua.hpp>

#include "module/lua/handle.h"
#include "module/module.h"

namespace crescent::golden {
namespace {

/// A Lua state that exists until the process ends, with the module in the global variable cr.
lua_State* state() {
  static lua_State* const L = [] {
    lua_State* new_state = luaL_newstate();
    luaL_openlibs(new_state);
    luaL_requiref(new_state, "crescent", luaopen_crescent, 0);
    lua_setglobal(new_state, "cr");
    return new_state;
  }();
  return L;
}

void push(lua_State* L, const Value& value) {
  if (value.is_null()) return lua_pushlightuserdata(L, nullptr);
  if (value.is_bool()) return lua_pushboolean(L, value.as_bool());
  if (value.is_int()) return lua_pushinteger(L, value.as_int());
  if (value.is_number()) return lua_pushnumber(L, value.as_float());
  if (value.is_string()) return void(lua_pushstring(L, value.as_string().c_str()));
  lua_newtable(L);
  lua_Integer index = 0;
  for (const Value& item : value.as_list()) {
    push(L, item);
    lua_rawseti(L, -2, ++index);
  }
}

}  // namespace

ModelPtr application_from_lua(const std::string& name, const Dict& arguments) {
  clear_session();
  lua_State* L = state();
  lua_settop(L, 0);
  lua_getglobal(L, "cr");
  lua_getfield(L, -1, "applications");
  lua_getfield(L, -1, name.c_str());
  if (lua_isnil(L, -1)) fail("cr.applications has no ", name);
  lua_newtable(L);
  for (const DictEntry& entry : arguments) {
    push(L, entry.value);
    lua_setfield(L, -2, entry.key.c_str());
  }
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) fail(lua_tostring(L, -1));
  return lua::object_as<Model>(L, -1);
}

}  // namespace crescent::golden
