// Errors for calls such as cr:zeros(3), which pass a table of the module (cr or a table in it) to a
// function as an argument.
#pragma once
#include <lua.hpp>
#include <string>

namespace crescent::lua {

/// Notes the path "cr" of the table on top of the stack, and the paths of the tables in it,
/// "cr.layers". Classes and objects are not noted.
void note_paths_of_modules(lua_State* L);

/// Notes the path of the table on top of the stack, which was made after note_paths_of_modules.
void note_path_of_module(lua_State* L, const std::string& path);

/// Fails if the address is that of a noted table, which a call with ':' passed to a function or a
/// class of this name.
void refuse_module(lua_State* L, const void* address, const std::string& name);

}  // namespace crescent::lua
