// Methods of models that return another model, with layers inserted, replaced or removed.
#pragma once
#include "classes/handle_type.h"

namespace crescent::lua {

void add_surgery(HandleType& model);

}  // namespace crescent::lua
