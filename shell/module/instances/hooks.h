// Hooks are the functions of a Lua class that C++ calls. A table has those of all bases, so
// misspelt ones, and those that only Keras calls, are found.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Warns, once per class, of functions that resemble hooks of `base` ("Layer", ...; its table is at
/// `base_index`) but are never called.
void warn_of_unread_hooks(lua_State* L, int class_index, int base_index, const char* base);

}  // namespace crescent::lua
