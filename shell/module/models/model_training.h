// The methods compile, fit, evaluate, predict and related ones of models in Lua.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_training(Type& model);

}  // namespace crescent::lua
