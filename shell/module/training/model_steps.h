// The default steps of a model as methods, for classes that call them: cr.Model.train_step(self,
// data).
#pragma once
#include "classes/type.h"

namespace crescent::lua {

void add_steps(Type& model);

}  // namespace crescent::lua
