// Loops over the rows and elements of a tensor: pairs, elements, map.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

void add_element_loops(Type& type);

}  // namespace crescent::lua
