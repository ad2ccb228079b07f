// What the prompt helps with while an entry is typed.
#pragma once
#include <lua.hpp>
#include <string>

#include "editor/editor.h"

namespace crescent::program {

/// Pushes the field of the module's table; the prompt's own functions live there.
void push_module_function(lua_State* L, const char* name);

/// How the call is made that is being typed in front of the cursor.
std::string hint(lua_State* L, const std::string& text, size_t cursor);

/// Names, options and their values; in strings that are none, names of files.
editor::Completions completions(lua_State* L, const std::string& text, size_t cursor);

}  // namespace crescent::program
