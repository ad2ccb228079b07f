// Construction of objects of Lua classes, by a call of the class table, from files and from nested
// configurations.
#pragma once
#include <lua.hpp>

#include "crescent/registry/registry.h"

namespace crescent::lua {

/// The factory of the Lua class at `table_index`. It makes the objects that files and nested
/// configurations describe.
std::shared_ptr<const Factory> factory_of(lua_State* L, int table_index);
/// Implements Class(...); the stack has the class table and the arguments.
int construct(lua_State* L);

}  // namespace crescent::lua
