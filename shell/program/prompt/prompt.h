// The prompt: reads, runs, prints, until the end of input.
#pragma once
#include <lua.hpp>

#include "editor/screen/layout.h"
#include "program/lua/variables.h"

namespace crescent::program {

/// The prompts of an entry: its number, and blanks of the same width for further lines.
editor::Prompts prompts(int number);

/// Runs the prompt and returns the exit status of the program; a signal may end the program
/// instead. `has_startup`: the user's startup file runs first.
int run_prompt(lua_State* L, Variables& variables, bool has_startup);

}  // namespace crescent::program
