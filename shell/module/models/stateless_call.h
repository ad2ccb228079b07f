// The method stateless_call of layers.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

void add_stateless_call(HandleType& layer);

}  // namespace crescent::lua
