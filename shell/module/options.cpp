#include "options.h"

#include "callable.h"

namespace crescent::lua {
namespace {

void add_names(lua_State* L, int table, Dict& keywords) {
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING)
      keywords.set(text_of(L, -2), to_value(L, lua_gettop(L)));
    else if (!lua_isinteger(L, -2))
      fail_expected(L, -2, "the name of an option");
  }
}

void add_positions(lua_State* L, int table, List& positional) {
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, table));
  for (lua_Integer i = 1; i <= length; ++i) {
    lua_rawgeti(L, table, i);
    positional.push_back(to_value(L, lua_gettop(L)));
    lua_pop(L, 1);
  }
}

}  // namespace

Dict options_from(lua_State* L, int first, const SchemaData& schema) {
  List positional;
  Dict keywords;
  int last = lua_gettop(L);
  reserve(L, 8);
  if (last == first && is_plain_table(L, first)) {
    add_positions(L, first, positional);
    add_names(L, first, keywords);
  } else {
    const bool named = last > first && is_options(L, last);
    if (named) add_names(L, last, keywords);
    for (int i = first; i <= last - named; ++i) positional.push_back(to_value(L, i));
    while (!positional.empty() && positional.back().is_null()) positional.pop_back();
  }
  Dict options = schema.by_name(positional, keywords);
  adapt_options(options, schema);
  return options;
}

Value take(Dict& options, std::string_view name) {
  const Value* found = options.find(name);
  Value value = found ? *found : Value();
  options.erase(name);
  return value;
}

}  // namespace crescent::lua
