#include "lua/lists.h"

#include <cstring>

#include "lua/handle.h"

namespace crescent::lua {
namespace {

const char list_key = 0;  // the key in the Lua registry of the metatable of lists

/// The metamethod __eq of lists, which compares a list with another table item by item.
extern "C" int equal_lists(lua_State* L) {
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, 1));
  bool are_equal = static_cast<lua_Integer>(lua_rawlen(L, 2)) == length;
  for (lua_Integer i = 1; are_equal && i <= length; ++i, lua_settop(L, 2)) {
    lua_rawgeti(L, 1, i);
    lua_rawgeti(L, 2, i);
    are_equal = lua_compare(L, -2, -1, LUA_OPEQ);
  }
  return lua_pushboolean(L, are_equal), 1;
}

}  // namespace

extern "C" int index_list(lua_State* L) {
  if (lua_isinteger(L, 2) && lua_tointeger(L, 2) < 1)
    return luaL_error(L,
                      "a list has no position %I: positions count from 1, the last is list[#list]",
                      static_cast<LUAI_UACINT>(lua_tointeger(L, 2)));
  const char* name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "n";
  if (std::strcmp(name, "n") != 0)  // lists of Lua may have their length in this field
    return luaL_error(L, "a list of %I has no field '%s': its values are list[1], list[2], ...",
                      static_cast<LUAI_UACINT>(lua_rawlen(L, 1)), name);
  return lua_pushnil(L), 1;
}

void mark_list(lua_State* L) {
  reserve(L, 4);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, index_list);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, equal_lists);
    lua_setfield(L, -2, "__eq");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &list_key);
  }
  lua_setmetatable(L, -2);
}

bool is_marked_list(lua_State* L, int index) { return has_metatable(L, index, &list_key); }

}  // namespace crescent::lua
