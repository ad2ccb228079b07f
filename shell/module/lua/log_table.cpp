#include "lua/log_table.h"

#include "lua/handle.h"
#include "lua/misspelling.h"
#include "lua/text.h"

namespace crescent::lua {
namespace {

const char log_table_key = 0;  // the key in the Lua registry of the metatable of tables of logs

bool resembles(std::string_view word, std::string_view log_name) {
  return is_misspelling(word, log_name) || (!word.empty() && log_name.starts_with(word));
}

/// The metamethod __index of tables of logs.
extern "C" int index_logs(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) return lua_pushnil(L), 1;
  return check_log_name(L, 1, 2), lua_pushnil(L), 1;
}

}  // namespace

void check_log_name(lua_State* L, int table_index, int name_index) {
  for (lua_pushnil(L); lua_next(L, table_index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING ||
        !resembles(lua_tostring(L, name_index), lua_tostring(L, -2)))
      continue;
    luaL_error(L, "there is no log '%s' (did you mean '%s'?)", lua_tostring(L, name_index),
               lua_tostring(L, -2));
  }
}

void mark_log_table(lua_State* L) {
  reserve(L, 4);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &log_table_key) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, index_logs);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &log_table_key);
  }
  lua_setmetatable(L, -2);
}

bool is_log_table(lua_State* L, int index) { return has_metatable(L, index, &log_table_key); }

}  // namespace crescent::lua
