#include "lua/results.h"

#include <cctype>

#include "crescent/base/error.h"
#include "lua/lists.h"
#include "lua/log_table.h"
#include "lua/stack.h"

namespace crescent::lua {
namespace {

const char metatables_key = 0;  // the key in the Lua registry of a weak table {text = metatable}
const char mark_key = 0;        // the key of a field that all these metatables have

/// How an item is read by its name: r.loss, r["rest/c_loss"].
std::string item_text(const std::string& name) {
  bool is_word = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (const unsigned char c : name) is_word = is_word && (std::isalnum(c) || c == '_');
  return is_word ? "r." + name : concat("r[\"", name, "\"]");
}

/// The message for results that are used as a number.
std::string message_of(const std::string& method, const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back(item_text(name));
  return concat(method, " returns one list, which is no number: write local r = model:", method,
                "(...); its numbers are ", join(items));
}

/// The metamethods of operators that expect numbers or texts; the upvalue is the message.
extern "C" int refuse_operator(lua_State* L) {
  return luaL_error(L, "%s", lua_tostring(L, lua_upvalueindex(1)));
}

/// The metamethod __index; the upvalue is the table {name = position}.
extern "C" int index_results(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) return index_list(L);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNUMBER)
    return lua_rawgeti(L, 1, lua_tointeger(L, -1)), 1;
  lua_pushvalue(L, lua_upvalueindex(1));
  return check_log_name(L, lua_gettop(L), 2), lua_pushnil(L), 1;
}

void push_new_metatable(lua_State* L, const std::string& message,
                        const std::vector<std::string>& names) {
  lua_newtable(L);
  for (const char* event : {"__add", "__sub", "__mul", "__div", "__idiv", "__mod", "__pow", "__unm",
                            "__lt", "__le", "__concat"}) {
    lua_pushlstring(L, message.data(), message.size());
    lua_pushcclosure(L, refuse_operator, 1);
    lua_setfield(L, -2, event);
  }
  lua_newtable(L);
  lua_Integer position = 0;
  for (const std::string& name : names) {
    lua_pushinteger(L, ++position);
    lua_setfield(L, -2, name.c_str());
  }
  lua_pushcclosure(L, index_results, 1);
  lua_setfield(L, -2, "__index");
  lua_pushstring(L, "results");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 1);
  lua_rawsetp(L, -2, &mark_key);
}

}  // namespace

void mark_results(lua_State* L, const std::string& method, const std::vector<std::string>& names) {
  reserve(L, 6);
  const std::string message = message_of(method, names);
  push_weak_table(L, &metatables_key, "v");
  if (lua_getfield(L, -1, message.c_str()) == LUA_TNIL) {
    lua_pop(L, 1);
    push_new_metatable(L, message, names);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, message.c_str());
  }
  lua_setmetatable(L, -3);
  lua_pop(L, 1);
}

bool is_results(lua_State* L, int index) {
  if (!lua_istable(L, index) || !lua_getmetatable(L, index)) return false;
  const bool is_marked = lua_rawgetp(L, -1, &mark_key) != LUA_TNIL;
  lua_pop(L, 2);
  return is_marked;
}

}  // namespace crescent::lua
