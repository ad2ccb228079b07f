// The base classes from which Lua code can derive: Layer, Model, Loss, ... Each is implemented by a
// C++ class whose objects call the functions of a class table.
#pragma once
#include <lua.hpp>

#include "lua/handle.h"

namespace crescent::lua {

/// An option, or an argument of call(), that a Lua class declares.
struct Declaration {
  std::string name, doc;
  Value default_value;
  std::string type = {};  ///< the type of an option that is inherited from a built-in class, which
                          ///< checks the value; if empty, the type of the default
};

/// The description of a base class, independent of its C++ type.
struct Base {
  const char* name;
  const char* kind;
  SchemaData (*schema)(const std::string& title, const std::vector<Declaration>& options);
  ObjectPtr (*make)(const SchemaData& schema, const Dict& options);
  /// returns the options that the base class handles; null for datasets, which are never stored in
  /// files
  Dict (*base_config)(const Configurable& object);
};

const std::vector<Base>& bases();
inline bool is_model(const Base& base) { return std::string_view(base.name) == "Model"; }
inline bool is_format(const Base& base) { return std::string_view(base.name) == "Format"; }

/// The base class of the class table at `index`.
const Base& base_at(lua_State* L, int index);
void set_base(lua_State* L, int table_index, const Base& base);
/// Pushes the table {name = class table} of the bases.
void push_bases(lua_State* L);

}  // namespace crescent::lua
