#include "lua/stack.h"

#include "crescent/error.h"

namespace crescent::lua {

void reserve(lua_State* L, int n) {
  if (!lua_checkstack(L, n)) fail("too many nested calls");
}

void push_field(lua_State* L, int table, const char* name) {
  table = lua_absindex(L, table);
  lua_pushstring(L, name);
  lua_rawget(L, table);
}

void push_global(lua_State* L, const char* name) {
  lua_pushglobaltable(L);
  push_field(L, -1, name);
  lua_remove(L, -2);
}

}  // namespace crescent::lua
