#include "lua/class_table.h"

#include <algorithm>

#include "lua/text.h"

namespace crescent::lua {
namespace {

const char class_key = 0;   // the key in a class table; its value is the ClassPtr of the class
const char marker_key = 0;  // the key that marks the metatable of class tables
const char super_address = 0;

}  // namespace

const void* super_key() { return &super_address; }

bool is_class(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return false;
  const bool marked = lua_rawgetp(L, -1, &marker_key) != LUA_TNIL;
  lua_pop(L, 2);
  return marked;
}

ClassPtr class_of_table(lua_State* L, int index) {
  if (!is_class(L, index)) return nullptr;
  lua_rawgetp(L, index, &class_key);
  auto* info = to_handle<ClassPtr>(L, -1);
  ClassPtr result = info ? *info : nullptr;
  lua_pop(L, 1);
  return result;
}

std::vector<std::string> defined_functions(lua_State* L, int class_index) {
  StackRestorer restorer(L);
  reserve(L, 6);
  std::vector<std::string> names;
  lua_pushvalue(L, class_index);
  while (lua_type(L, -1) == LUA_TTABLE) {
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
      if (lua_type(L, -2) == LUA_TSTRING && lua_isfunction(L, -1)) names.push_back(text_of(L, -2));
    lua_rawgetp(L, -1, super_key());
    lua_remove(L, -2);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void mark_class(lua_State* L) {
  lua_pushboolean(L, true);
  lua_rawsetp(L, -2, &marker_key);
}

void set_class_of_table(lua_State* L, int table, const ClassPtr& info) {
  push_handle(L, info);
  lua_rawsetp(L, table, &class_key);
}

}  // namespace crescent::lua
