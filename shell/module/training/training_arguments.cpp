#include "training/training_arguments.h"

#include <algorithm>

#include "classes/options.h"
#include "values/batches.h"
#include "values/callable.h"

namespace crescent::lua {
namespace {

/// Replaces the single table of model:fit{x=..., y=..., epochs=3} by positional arrays and a table
/// of the other options.
void spread_arrays(lua_State* L, int max_array_count) {
  if (lua_gettop(L) != 2 || !is_plain_table(L, 2)) return;
  push_field(L, 2, "x");
  if (lua_isnil(L, -1)) return lua_pop(L, 1);
  lua_pop(L, 1);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, 2);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, 3);
  }
  const char* names[] = {"x", "y"};
  for (int i = 0; i < max_array_count; ++i) {
    push_field(L, 2, names[i]);
    lua_insert(L, 3 + i);
    lua_pushnil(L);
    lua_setfield(L, -2, names[i]);
  }
  lua_remove(L, 2);
}

/// Whether the table has a key among `names`.
bool has_one_of(lua_State* L, int index, const std::vector<std::string>& names) {
  index = lua_absindex(L, index);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    push_string(L, name);
    const bool is_present = lua_rawget(L, index) != LUA_TNIL;
    lua_pop(L, 1);
    return is_present;
  });
}

/// Moves the targets from the options of model:fit(x, {y=..., epochs=3}) to the positional
/// arguments.
void move_targets(lua_State* L, const Model& model, int max_array_count) {
  if (max_array_count < 2 || lua_gettop(L) != 3 || !is_options(L, 3) ||
      has_one_of(L, 3, output_names(model).get()) || !has_one_of(L, 3, {"y"}))
    return;
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, 3);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, 4);
  }
  push_field(L, 3, "y");
  lua_replace(L, 3);
  lua_pushnil(L);
  lua_setfield(L, 4, "y");
}

}  // namespace

int first_option(lua_State* L, const Model& model, int max_array_count) {
  spread_arrays(L, max_array_count);
  move_targets(L, model, max_array_count);
  const int argument_count = lua_gettop(L) - 1;
  const bool ends_in_options = argument_count > 1 && argument_count <= max_array_count &&
                               is_options(L, -1) && !has_one_of(L, -1, output_names(model).get());
  const int array_count = std::min(max_array_count, argument_count - ends_in_options);
  for (int i = array_count; i < max_array_count; ++i) {
    lua_pushnil(L);
    lua_insert(L, 2 + i);
  }
  return 2 + max_array_count;
}

}  // namespace crescent::lua
