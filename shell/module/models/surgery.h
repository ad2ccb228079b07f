// Methods of models that return another model, with layers inserted, replaced or removed.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

void add_surgery(Type& model);

}  // namespace crescent::lua
