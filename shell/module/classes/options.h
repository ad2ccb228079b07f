// Options of methods and constructors: positional arguments in order of a schema, then one table of
// keywords.
#pragma once
#include "instances/functions.h"
#include "values/read.h"

namespace crescent::lua {

/// The arguments from `first` on as options by name. A single plain table may have positional and
/// named ones: {64, activation="relu"}.
Dict options_from(lua_State* L, int first, const SchemaData& schema);
/// The arguments of a declared method by name. A table may be an argument of a method, so it has
/// positional and named ones only if it has names: {64, axis=1}. Null counts as not given.
Dict arguments_from(lua_State* L, int first, const SchemaData& parameters);
/// Removes `name` from the options and returns its value; null without it.
Value take(Dict& options, std::string_view name);
/// A struct of options filled from a dictionary.
template <class T>
T filled(const Dict& options, const SchemaData& schema) {
  T result;
  schema.configure(&result, options);
  return result;
}

}  // namespace crescent::lua
