// Loops over the rows and elements of a tensor: pairs, elements, map.
#pragma once
#include "classes/handle_type.h"

namespace crescent::lua {

void add_element_loops(HandleType& type);

}  // namespace crescent::lua
