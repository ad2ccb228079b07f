#include "lua/stack.h"

#include "crescent/base/error.h"

namespace crescent::lua {

void reserve(lua_State* L, int n) {
  if (!lua_checkstack(L, n)) fail("too many nested calls");
}

void push_field(lua_State* L, int table_index, const char* name) {
  table_index = lua_absindex(L, table_index);
  lua_pushstring(L, name);
  lua_rawget(L, table_index);
}

void push_global(lua_State* L, const char* name) {
  lua_pushglobaltable(L);
  push_field(L, -1, name);
  lua_remove(L, -2);
}

void push_weak_table(lua_State* L, const void* key, const char* mode) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, mode);
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

}  // namespace crescent::lua
