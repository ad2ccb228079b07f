#include "instances/custom_classes.h"

#include "lua/stack.h"
#include "values/convert.h"

namespace crescent::lua {
namespace {

const char classes_key = 0;  // the key in the Lua registry of the table of custom classes

}  // namespace

void set_custom_classes(lua_State* L, int index) {
  lua_pushvalue(L, index);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &classes_key);
}

Dict custom_classes(lua_State* L) {
  const StackRestorer restorer(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &classes_key);
  return to_dict(L, lua_gettop(L));
}

}  // namespace crescent::lua
