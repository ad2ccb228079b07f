// Layers as Lua sees them.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

HandleType& add_layer_type(ObjectTypes& types, const HandleType& object);
/// Implements layer(inputs, {training = true}); the stack has the layer, the inputs and optionally
/// the table.
int call_layer(lua_State* L);

}  // namespace crescent::lua
