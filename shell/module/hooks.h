// Hooks: the functions of a Lua class that C++ calls. Every base's are in one table, so that a
// misspelt one, or one of Keras that is not called here, is noticed.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

namespace crescent::lua {

/// Names of the functions that the class and its parents (not the base) define.
std::vector<std::string> defined_functions(lua_State* L, int class_index);
/// Warns of functions that look like hooks of `base` ("Layer", ...) and are not called; once a
/// class.
void warn_of_unread_hooks(lua_State* L, int class_index, const char* base);
/// Warns of steps that the model at `index` defines for itself: compiled ones do not call them.
void warn_of_own_steps(lua_State* L, int index);

}  // namespace crescent::lua
