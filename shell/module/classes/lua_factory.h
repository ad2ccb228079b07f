// Objects of the classes that Lua defines: from a call of the class table, files and nested
// configurations.
#pragma once
#include <lua.hpp>

#include "crescent/registry/registry.h"

namespace crescent::lua {

/// Makes instances for files and nested configurations.
std::shared_ptr<const Factory> factory_of(lua_State* L, int table);
/// Class(...): the class table and its arguments.
int construct(lua_State* L);

}  // namespace crescent::lua
