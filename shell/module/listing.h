// The listing of everything in the module: functions by path, classes by kind, and members of
// objects. `crescent describe` prints it, and cr.listing() returns it.
#pragma once
#include <lua.hpp>

#include "crescent/base/value.h"

namespace crescent::lua {

/// The listing, in a stable order, for the table of the module at `module_index`; it loads all
/// built-in plugins.
Dict listing(lua_State* L, int module_index);

/// Adds listing to the table of the module on top of the stack.
void set_listing(lua_State* L);

}  // namespace crescent::lua
