// Functions of cr.ops that call Lua functions: cond, while_loop, map, scan, ...
#pragma once
#include "values/callable.h"

namespace crescent::lua {

const std::vector<CallablePtr>& control_flow_functions();

}  // namespace crescent::lua
