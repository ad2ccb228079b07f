// Layers in Lua.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

Type& add_layer_type(ObjectTypes& types, const Type& object);

}  // namespace crescent::lua
