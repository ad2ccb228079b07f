// The functions of C++ that cr.tuners (shell/lua/tuners.lua) needs: folders, the direction of logs,
// and coordination of the processes of a search.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

/// These functions, for the table `shell` of the Lua libraries.
std::vector<CallablePtr> search_functions();

}  // namespace crescent::lua
