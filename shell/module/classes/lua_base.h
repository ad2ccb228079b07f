// The bases of Lua classes: Layer, Model, Loss, ... Each has a C++ class whose objects call the
// functions of a class table.
#pragma once
#include <lua.hpp>

#include "lua/handle.h"

namespace crescent::lua {

/// An option or an argument of call() that a class declares.
struct Declared {
  std::string name, doc;
  Value value;
  std::string type = {};  ///< of an option that a built-in class checks; empty: as the default
};

/// A base of Lua classes, without its C++ type.
struct Base {
  const char* name;
  const char* kind;
  SchemaData (*schema)(const std::string& title, const std::vector<Declared>& options);
  ObjectPtr (*make)(const SchemaData& schema, const Dict& options);
  /// null for datasets, which are in no file and no configuration
  Dict (*base_config)(const Configurable& object);
};

const std::vector<Base>& bases();
inline bool is_model(const Base& base) { return std::string_view(base.name) == "Model"; }
inline bool is_format(const Base& base) { return std::string_view(base.name) == "Format"; }

/// The base of a class table.
const Base& base_at(lua_State* L, int index);
void set_base(lua_State* L, int table, const Base& base);
/// Pushes the table of the class tables of bases by name.
void push_bases(lua_State* L);

}  // namespace crescent::lua
