// The default training steps of a model as methods, which Lua classes can call:
// cr.Model.train_step(self, data).
#pragma once
#include "classes/handle_type.h"

namespace crescent::lua {

void add_steps(HandleType& model);

}  // namespace crescent::lua
