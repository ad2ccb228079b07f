// cr.check: checks of gradients, layers and plugins.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

const std::vector<CallablePtr>& check_functions();

}  // namespace crescent::lua
