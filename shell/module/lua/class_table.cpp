#include "lua/class_table.h"

#include <algorithm>

#include "crescent/program/program.h"
#include "lua/text.h"

namespace crescent::lua {
namespace {

const char class_key = 0;   // the key in a class table; its value is the ClassPtr of the class
const char marker_key = 0;  // the key that marks the metatable of class tables
const char super_address = 0;
const char members_address = 0;
const char instantiated_key = 0;  // the key in the tables of classes that have had objects

}  // namespace

const void* super_key() { return &super_address; }
const void* members_key() { return &members_address; }

bool is_class(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return false;
  const bool is_marked = lua_rawgetp(L, -1, &marker_key) != LUA_TNIL;
  lua_pop(L, 2);
  return is_marked;
}

ClassPtr class_of_table(lua_State* L, int index) {
  if (!is_class(L, index)) return nullptr;
  lua_rawgetp(L, index, &class_key);
  auto* info = to_handle<ClassPtr>(L, -1);
  ClassPtr result = info ? *info : nullptr;
  lua_pop(L, 1);
  return result;
}

namespace {

/// The metamethod __index of the members of a class whose parent is a base class, which is the
/// upvalue: a name that neither has is nil, while the base class itself refuses it.
extern "C" int index_base(lua_State* L) {
  lua_pushvalue(L, 2);
  return lua_rawget(L, lua_upvalueindex(1)), 1;
}

}  // namespace

void add_members(lua_State* L, int table_index, int parent_index) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, parent_index);
  const bool is_base = lua_rawgetp(L, parent_index, members_key()) != LUA_TTABLE;
  lua_pop(L, 1);
  if (is_base) lua_pushcclosure(L, index_base, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, table_index, members_key());
}

namespace {

bool is_instantiated(lua_State* L, int index) {
  const bool has_key = lua_rawgetp(L, index, &instantiated_key) != LUA_TNIL;
  lua_pop(L, 1);
  return has_key;
}

/// Replaces the class table on top of the stack by that of its parent, or by nil if the class has
/// no parent.
void replace_by_parent(lua_State* L) {
  lua_rawgetp(L, -1, super_key());
  lua_remove(L, -2);
}

}  // namespace

bool push_member(lua_State* L, int index) {
  reserve(L, 6);
  const int key_index = lua_gettop(L);
  for (lua_pushvalue(L, index); lua_type(L, -1) == LUA_TTABLE; replace_by_parent(L)) {
    if (lua_rawgetp(L, -1, members_key()) == LUA_TTABLE) {
      lua_pushvalue(L, key_index);
      if (lua_rawget(L, -2) != LUA_TNIL) {
        lua_replace(L, key_index);
        return lua_settop(L, key_index), true;
      }
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_replace(L, key_index);  // the parent of the last class is nil
  return false;
}

void mark_instantiated(lua_State* L, int index) {
  const StackRestorer restorer(L);
  reserve(L, 4);
  for (lua_pushvalue(L, index); lua_type(L, -1) == LUA_TTABLE; replace_by_parent(L)) {
    lua_pushboolean(L, true);
    lua_rawsetp(L, -2, &instantiated_key);
  }
}

void set_member(lua_State* L, int index) {
  lua_rawgetp(L, index, members_key());
  lua_insert(L, -3);
  lua_pushvalue(L, -2);
  lua_rawget(L, -4);
  const bool is_function = lua_isfunction(L, -1) || lua_isfunction(L, -2);
  if (is_function && !lua_rawequal(L, -1, -2) && is_instantiated(L, index)) retrace_functions();
  lua_pop(L, 1);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

std::vector<std::string> defined_functions(lua_State* L, int class_index) {
  StackRestorer restorer(L);
  reserve(L, 8);
  std::vector<std::string> names;
  for (lua_pushvalue(L, class_index); lua_type(L, -1) == LUA_TTABLE; replace_by_parent(L)) {
    if (lua_rawgetp(L, -1, members_key()) == LUA_TTABLE)
      for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && lua_isfunction(L, -1))
          names.push_back(text_of(L, -2));
    lua_pop(L, 1);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void mark_class(lua_State* L) {
  lua_pushboolean(L, true);
  lua_rawsetp(L, -2, &marker_key);
}

void set_class_of_table(lua_State* L, int table_index, const ClassPtr& info) {
  push_handle(L, info);
  lua_rawsetp(L, table_index, &class_key);
}

}  // namespace crescent::lua
