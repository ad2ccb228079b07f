// The tables of functions in `cr`: random, config, data, utils, plugins.
#pragma once
#include "classes/object_types.h"

namespace crescent::lua {

const std::vector<CallablePtr>& random_functions();
void add_random_types(ObjectTypes& types, const HandleType& object);
const std::vector<CallablePtr>& config_functions();
const std::vector<CallablePtr>& data_functions();
const std::vector<CallablePtr>& utils_functions();
const std::vector<CallablePtr>& plugins_functions();

}  // namespace crescent::lua
