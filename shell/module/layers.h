// Calling layers from Lua.
#pragma once
#include "crescent/layer.h"
#include "push.h"

namespace crescent::lua {

/// self, inputs, {training=, mask=, ...}: the result of the call is pushed.
int call_layer(lua_State* L);
/// The layer's inputs as they are seen in Lua: one, or a table.
void push_inputs(lua_State* L, const Tensors& tensors);

}  // namespace crescent::lua
