// Runs the part of the module that is written in Lua, and provides functions for it, such as the
// definition of functions with options like those of C++.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Runs shell/lua/libraries.lua, and the files that it loads, for the table of the module on top of
/// the stack.
void run_scripts(lua_State* L);

/// Calls shell.methods[name], a function that a Lua library defines, as the body of a method. The
/// stack must have the arguments; pushes the results and returns their number.
int call_script_method(lua_State* L, const char* name);

}  // namespace crescent::lua
