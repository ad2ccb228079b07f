// Methods of models that give another one with layers put in, exchanged or left out.
#pragma once
#include "classes/type.h"

namespace crescent::lua {

void add_surgery(Type& model);

}  // namespace crescent::lua
