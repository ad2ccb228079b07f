// Hooks: the functions of a Lua class that C++ calls. Every base's are in one table, so that a
// misspelt one, or one of Keras that is not called here, is noticed.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Warns of functions that look like hooks of `base` ("Layer", ...; its table is at `base_index`)
/// and are not called; once a class.
void warn_of_unread_hooks(lua_State* L, int class_index, int base_index, const char* base);

}  // namespace crescent::lua
