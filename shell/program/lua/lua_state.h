// The program's Lua state: the libraries, `cr`, and calls that Ctrl-C can stop.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

namespace crescent::program {

class Variables;

/// Opens the libraries, makes `require "crescent"` find the module inside of the program, and sets
/// `cr` and `help`.
void open_libraries(lua_State* L);
/// arg[0] is the script, arg[1] ... its arguments, negative positions what came before.
void set_arguments(lua_State* L, char** argv, int count, int script);
/// Calls the function below the arguments; an error is replaced by its text with a traceback.
/// Ctrl-C raises an error.
int call(lua_State* L, int arguments, int results);
/// The error message on top of the stack, to stderr: with a hint where there is one, and the line
/// that it is about.
void report(lua_State* L);

/// True when it ran without error; the error is reported. With variables, those are kept that it
/// declares outside of blocks. What the code returns is printed. The caller has remembered the text
/// of this name that the user wrote.
bool run_text(lua_State* L, const std::string& code, const char* name,
              Variables* variables = nullptr);
bool require(lua_State* L, const std::string& name);
/// Null path: standard input. The arguments of the script are those of `arg`.
bool run_file(lua_State* L, const char* path, Variables* variables = nullptr);

}  // namespace crescent::program
