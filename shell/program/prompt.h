// The prompt: reads, runs, prints, until the end of input.
#pragma once
#include <lua.hpp>

namespace crescent::program {

/// False when a signal ended it.
bool run_prompt(lua_State* L);

}  // namespace crescent::program
