// The listing of everything that can be called: functions by their paths, classes by kind, and what
// objects have. `crescent describe` prints it, cr.listing() gives it.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"

namespace crescent::lua {

/// The module's table is at `module`. In a stable order; it loads every built-in plugin.
Dict listing(lua_State* L, int module);

/// Sets listing in the module's table on top of the stack.
void set_listing(lua_State* L);

}  // namespace crescent::lua
