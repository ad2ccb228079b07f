// Hints and completions while an entry is typed.
#pragma once
#include <lua.hpp>
#include <string>

#include "editor/editor.h"

namespace crescent::program {

/// Pushes a function of the module's table, by its name.
void push_module_function(lua_State* L, const char* name);

/// The signature of the function in whose call the cursor is.
std::string hint(lua_State* L, const std::string& text, size_t cursor);

/// Completions for names, options and values of options. In a string that is no value of an option
/// they are names of files.
editor::Completions completions(lua_State* L, const std::string& text, size_t cursor);

}  // namespace crescent::program
