#include "values/modules.h"

#include "lua/class_table.h"
#include "lua/stack.h"
#include "lua/text.h"
#include "values/convert.h"

namespace crescent::lua {
namespace {

const char modules_key = 0;  // key in the Lua registry of the table {address = path}

/// Records the paths of the table on top of the stack and of the tables in it. `paths_index` is the
/// stack index of the table of paths.
void record_table(lua_State* L, int paths_index, const std::string& path) {
  reserve(L, 8);
  const int table_index = lua_gettop(L);
  lua_pushlightuserdata(L, const_cast<void*>(lua_topointer(L, table_index)));
  if (lua_rawget(L, paths_index) == LUA_TNIL) {
    push_string(L, path);
    lua_rawsetp(L, paths_index, lua_topointer(L, table_index));
    for (lua_pushnil(L); lua_next(L, table_index); lua_pop(L, 1))
      if (lua_type(L, -2) == LUA_TSTRING && lua_istable(L, -1) && !is_class(L, -1))
        record_table(L, paths_index, path + "." + text_of(L, -2));
  }
  lua_settop(L, table_index);
}

}  // namespace

void record_paths_of_modules(lua_State* L) {
  lua_newtable(L);
  const int paths_index = lua_gettop(L);
  lua_pushvalue(L, -2);
  record_table(L, paths_index, "cr");
  lua_pop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &modules_key);
}

void record_path_of_module(lua_State* L, const std::string& path) {
  const StackRestorer restorer(L);
  const int table_index = lua_gettop(L);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key) != LUA_TTABLE) return;
  push_string(L, path);
  lua_rawsetp(L, -2, lua_topointer(L, table_index));
}

void refuse_module(lua_State* L, const void* address, const std::string& name) {
  if (!address || name.starts_with("__")) return;  // metamethods get the table itself
  const StackRestorer restorer(L);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key) != LUA_TTABLE) return;
  if (lua_rawgetp(L, -1, address) != LUA_TSTRING) return;
  const std::string path = text_of(L, -1);
  fail(name, ": what ", path, " contains is called with '.', not with ':': ", path, ".", name,
       "(...)");
}

}  // namespace crescent::lua
