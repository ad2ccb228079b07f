// Methods of models in Lua that inspect a model: trace, gradient_norms, find_learning_rate,
// profile, validate.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_inspection(HandleType& model);

}  // namespace crescent::lua
