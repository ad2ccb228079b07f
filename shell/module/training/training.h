// Optimizers, losses, metrics, callbacks and the functions of one tensor in Lua.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_training_types(ObjectTypes& types, const HandleType& object);

}  // namespace crescent::lua
