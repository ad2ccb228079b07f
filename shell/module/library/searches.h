// The functions of C++ that cr.tuners (shell/lua/tuners.lua) needs: folders, the direction of logs,
// and coordination of the processes of a search.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

/// The C++ functions in the table `shell` of the Lua libraries that cr.tuners calls: create_folder,
/// direction_of, in_first_process, ...
std::vector<CallablePtr> search_functions();

}  // namespace crescent::lua
