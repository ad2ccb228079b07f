// Arguments of functions that take a path and options of the file format.
#pragma once
#include "classes/options.h"

namespace crescent::lua {

/// The path argument: a string at `index`, or the member `path` of a table {path = ..., overwrite =
/// false} there; error messages begin with the name of the function.
std::string path_at(lua_State* L, int index, const char* function);
/// The options that follow the path at `index`, or are in the same table.
Dict options_at(lua_State* L, int index, const SchemaData& schema);

}  // namespace crescent::lua
