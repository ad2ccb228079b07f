// Hooks are the functions of a Lua class that C++ calls. A table lists the hooks of all base
// classes, so that misspelt names, and hooks that only Keras calls, can be reported.
#pragma once
#include <lua.hpp>
#include <string_view>

namespace crescent::lua {

/// Warns, once per class, of functions that are never called although their name resembles a hook
/// of `base` ("Layer", ...). The table of the base is at `base_index`.
void warn_of_uncalled_hooks(lua_State* L, int class_index, int base_index, const char* base);

/// Whether C++ or Keras calls a function of this name in classes of `base`.
bool is_hook(std::string_view name, std::string_view base);

}  // namespace crescent::lua
