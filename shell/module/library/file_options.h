// Arguments of functions that take a path and options of the file format.
#pragma once
#include "classes/options.h"

namespace crescent::lua {

/// The path at `index`, or in a table {path = ..., overwrite = false} there; messages name the
/// function.
std::string path_at(lua_State* L, int index, const char* function);
/// The options after this path or in its table.
Dict options_at(lua_State* L, int index, const SchemaData& schema);

}  // namespace crescent::lua
