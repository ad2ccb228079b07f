// Hints and completions while an entry is typed.
#pragma once
#include <lua.hpp>
#include <string>

#include "editor/editor.h"

namespace crescent::program {

/// Pushes a field of the module's table, which also contains the functions made for the prompt.
void push_module_function(lua_State* L, const char* name);

/// The signature of the function whose call the cursor is in.
std::string hint(lua_State* L, const std::string& text, size_t cursor);

/// Completions for names, options and values of options; in other strings, for names of files.
editor::Completions completions(lua_State* L, const std::string& text, size_t cursor);

}  // namespace crescent::program
