#include "lua/text.h"

#include "crescent/base/value.h"
#include "lua/handle.h"

namespace crescent::lua {

std::string text_of(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TSTRING: {
      size_t length = 0;
      const char* text = lua_tolstring(L, index, &length);
      return std::string(text, length);
    }
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) return std::to_string(lua_tointeger(L, index));
      return to_text(lua_tonumber(L, index));
    case LUA_TBOOLEAN:
      return lua_toboolean(L, index) ? "true" : "false";
    case LUA_TNIL:
    case LUA_TNONE:
      return "nil";
    default:
      return describe(L, index);
  }
}

/// The text for a table; a class is described by the name in its metatable.
static std::string describe_table(lua_State* L, int index) {
  if (luaL_getmetafield(L, index, "__name") == LUA_TNIL) return "a table";
  const std::string text = "the class " + text_of(L, -1);
  lua_pop(L, 1);
  return text;
}

std::string describe(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TNONE:
      return "no value";
    case LUA_TNIL:
      return "nil";
    case LUA_TSTRING:
      return to_text(Value(text_of(L, index)));
    case LUA_TNUMBER:
    case LUA_TBOOLEAN:
      return text_of(L, index);
    case LUA_TTABLE:
      return describe_table(L, index);
    case LUA_TFUNCTION:
      return "a function";
    case LUA_TUSERDATA:
      return describe_handle(L, index);
    default:
      return concat("a ", lua_typename(L, lua_type(L, index)));
  }
}

}  // namespace crescent::lua
