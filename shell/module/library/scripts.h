// Runs the part of the module that is written in Lua, and provides functions for it, such as the
// definition of functions with options like those of C++.
#pragma once
#include <lua.hpp>

namespace crescent::lua {

/// Runs shell/lua/libraries.lua, and the files that it loads, for the table of the module on top of
/// the stack.
void run_scripts(lua_State* L);

/// Calls the function shell.methods[name], which a script defines, with the arguments on the stack,
/// leaves the results there and returns their number: the body of a method that is written in Lua.
int call_script_method(lua_State* L, const char* name);

}  // namespace crescent::lua
