// Hooks are the functions of a Lua class that C++ calls. A table has those of all bases, so
// misspelt ones, and those that only Keras calls, are found.
#pragma once
#include <lua.hpp>
#include <string_view>

namespace crescent::lua {

/// Warns, once per class, of functions that resemble hooks of `base` ("Layer", ...; its table is at
/// `base_index`) but are never called.
void warn_of_unread_hooks(lua_State* L, int class_index, int base_index, const char* base);

/// Whether C++ or Keras calls a function of this name in classes of `base`.
bool is_hook(std::string_view name, std::string_view base);

}  // namespace crescent::lua
