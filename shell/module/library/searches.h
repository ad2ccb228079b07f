// What cr.tuners (shell/lua/tuners.lua) needs of the system and of the processes of a search.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

/// Functions for the table `shell` of the scripts.
std::vector<CallablePtr> search_functions();

}  // namespace crescent::lua
