// Hooks: the functions of a Lua class that C++ calls. Every base's are in one table, so that a
// misspelt one, or one of Keras that is not called here, is noticed.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Warns of functions that look like hooks of `base` ("Layer", ...; its table is at `base_index`)
/// and are not called; once a class.
void warn_of_unread_hooks(lua_State* L, int class_index, int base_index, const char* base);
/// Warns of steps that the model at `index` defines for itself: compiled ones do not call them.
void warn_of_own_steps(lua_State* L, int index);

}  // namespace crescent::lua
