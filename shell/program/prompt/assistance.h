// Hints and completions while an entry is typed.
#pragma once
#include <lua.hpp>
#include <string>

#include "editor/editor.h"

namespace crescent::program {

/// Pushes a field of the module's table, in which the prompt's own functions are.
void push_module_function(lua_State* L, const char* name);

/// The signature of the call at the cursor.
std::string hint(lua_State* L, const std::string& text, size_t cursor);

/// Completions for names, options and values of options; in other strings, for names of files.
editor::Completions completions(lua_State* L, const std::string& text, size_t cursor);

}  // namespace crescent::program
