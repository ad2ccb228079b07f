// cr.layers.add{a, b}, cr.layers.concatenate({a, b}, {axis = 1}), ...: a merging layer made and
// called at once.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

/// Sets them in the table on top of the stack.
void set_merge_functions(lua_State* L);

}  // namespace crescent::lua
