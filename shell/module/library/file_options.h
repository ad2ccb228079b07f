// Functions that take a path and what the file's format has as options.
#pragma once
#include "classes/options.h"

namespace crescent::lua {

/// The path at `index`, or in a table {path = ..., overwrite = false} there. Messages name the
/// function.
std::string path_at(lua_State* L, int index, const char* function);
/// What comes with that path.
Dict options_at(lua_State* L, int index, const SchemaData& schema);

}  // namespace crescent::lua
