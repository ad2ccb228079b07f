// The functions cr.layers.add{a, b}, cr.layers.concatenate({a, b}, {axis = 1}), ..., which make a
// merging layer and call it.
#pragma once
#include "values/callable.h"

namespace crescent::lua {

/// Adds the functions cr.layers.add, ... to the table on top of the stack.
void set_merge_functions(lua_State* L);

}  // namespace crescent::lua
