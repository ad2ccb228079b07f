// The prompt: reads entries, runs them and prints their results, until the end of the input.
#pragma once
#include <lua.hpp>

#include "editor/screen/layout.h"
#include "program/lua/variables.h"

namespace crescent::program {

/// The two prompts of an entry: its number for the first line, and blanks of the same width for
/// further lines.
editor::Prompts prompts(int number);

/// Runs the prompt and returns the exit status of the program; a signal may end the program
/// instead. If `has_startup` is true, the user's startup file runs first.
int run_prompt(lua_State* L, Variables& variables, bool has_startup);

}  // namespace crescent::program
