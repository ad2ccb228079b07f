// Errors for calls such as cr:zeros(3), which pass a table of the module (cr or a table in it) to a
// function as an argument.
#pragma once
#include <lua.hpp>
#include <string>

namespace crescent::lua {

/// Records the path "cr" of the table on top of the stack, and the paths of the tables in it, such
/// as "cr.layers", but not those of classes and objects.
void record_paths_of_modules(lua_State* L);

/// Records the path of the table on top of the stack, which was made after record_paths_of_modules.
void record_path_of_module(lua_State* L, const std::string& path);

/// Fails if the address is that of a table whose path is recorded; then a call with ':' has passed
/// this table to a function or a class with the name `name`.
void refuse_module(lua_State* L, const void* address, const std::string& name);

}  // namespace crescent::lua
