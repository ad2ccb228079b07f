#include "library/file_options.h"

#include "values/callable.h"

namespace crescent::lua {

std::string path_at(lua_State* L, int index, const char* function) {
  lua_settop(L, std::max(lua_gettop(L), index));
  is_keywords(L, index) ? push_field(L, index, "path") : lua_pushvalue(L, index);
  try {
    const std::string path = Read<std::string>::from(L, -1);
    lua_pop(L, 1);
    return path;
  } catch (Error& error) {
    error.add_context(concat(function, ": argument 'path': "));
    throw;
  }
}

Dict options_at(lua_State* L, int index, const SchemaData& schema) {
  if (!is_keywords(L, index)) return options_from(L, index + 1, schema);
  Dict options = Read<NamedValueTable>::from(L, index).dict;
  options.erase("path");
  return options;
}

}  // namespace crescent::lua
