// The Lua state of the crescent program: the libraries, `cr`, and calls that Ctrl-C can stop.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

namespace crescent::program {

class Variables;

/// Opens the libraries, makes `require "crescent"` find the module inside the program, and sets the
/// globals `cr` and `help`.
void open_libraries(lua_State* L);
/// Sets the table `arg`: arg[0] is the script, arg[1] and the following are its arguments, and
/// negative indices are the program's arguments before the script.
void set_arguments(lua_State* L, char** argv, int count, int script_index);
/// Calls a function that lies on the stack below its `argument_count` arguments. An error is
/// replaced by its message with a traceback; Ctrl-C raises an error.
int call(lua_State* L, int argument_count, int result_count);
/// Prints the error message on top of the stack to stderr, with a hint if there is one, and with
/// the source line at fault.
void report(lua_State* L);

/// Runs Lua code and prints the values that it returns. If it fails, reports the error and returns
/// false. If `variables` is given, local variables declared outside of blocks are kept there. The
/// caller must have registered the source under this name (remember_source).
bool run_text(lua_State* L, const std::string& code, const char* name,
              Variables* variables = nullptr);
bool require(lua_State* L, const std::string& name);
/// Runs a script, with the arguments in `arg`; a null path means standard input.
bool run_file(lua_State* L, const char* path, Variables* variables = nullptr);

}  // namespace crescent::program
