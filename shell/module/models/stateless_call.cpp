#include "models/stateless_call.h"

#include "crescent/layer/stateless.h"
#include "tensors/tensors.h"

namespace crescent::lua {
namespace {

/// Replaces the table on top of the stack by a copy without the option return_losses; returns
/// whether the option was true.
bool take_return_losses(lua_State* L) {
  const int top = lua_gettop(L);
  if (top < 5 || !is_keywords(L, top)) return false;
  push_field(L, top, "return_losses");
  const bool returns_losses = lua_toboolean(L, -1);
  lua_pop(L, 1);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, top); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING && text_of(L, -2) == "return_losses") continue;
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, top + 1);
  }
  lua_replace(L, top);
  return returns_losses;
}

/// Implements layer:stateless_call(trainable_variables, non_trainable_variables, inputs, ...,
/// options).
int stateless_call_of(lua_State* L) {
  const auto layer = Read<LayerPtr>::from(L, 1);
  if (lua_gettop(L) < 4)
    fail_in_layer(layer->name(), "Layer ", layer->name(),
                  ": stateless_call expects values of trainable_variables and of ",
                  "non_trainable_variables, then inputs");
  reserve(L, 8);
  const bool returns_losses = take_return_losses(L);
  const Tensors trainable = to_tensors(L, 2), non_trainable = to_tensors(L, 3);
  lua_remove(L, 3);
  lua_remove(L, 2);
  const StatelessCall result = stateless_call(*layer, trainable, non_trainable, [&] {
    const int argument_count = lua_gettop(L) - 1;
    protected_call(L, argument_count, 1);
    return Tensors();
  });
  push(L, result.non_trainable);
  if (returns_losses) push(L, result.losses);
  return returns_losses ? 3 : 2;
}

}  // namespace

void add_stateless_call(HandleType& layer) {
  layer.raw_method(
      "stateless_call -> the outputs, the non-trainable variables after the call",
      stateless_call_of,
      {"trainable_variables: a list of tensors", "non_trainable_variables: a list of tensors",
       "inputs: a tensor or a structure of them", "options: a table with names=nil"},
      "Calls the layer with other values of its trainable_variables and non_trainable_variables; "
      "the layer is unchanged. With return_losses = true in the options, the losses of the call "
      "follow.");
}

}  // namespace crescent::lua
