// The usual steps of a model as methods, for classes that build theirs on them:
// cr.Model.train_step(self, data).
#pragma once
#include "classes/type.h"

namespace crescent::lua {

void add_steps(Type& model);

}  // namespace crescent::lua
