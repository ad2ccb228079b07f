// Warnings about global variables without a value: those whose names are values in Python, such as
// True, and names that Crescent expects in quotes, such as relu.
#pragma once
#include <lua.hpp>

namespace crescent::program {

/// Makes the user's code warn once for each line that reads a global variable that does not exist.
void warn_of_missing_globals(lua_State* L);

}  // namespace crescent::program
