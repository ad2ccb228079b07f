// Options of methods and constructors: positional arguments in order of a schema, then one table of
// keywords.
#pragma once
#include "instances/functions.h"
#include "values/read.h"

namespace crescent::lua {

/// The arguments from `first` on as options by name. A single plain table may hold both: {64,
/// activation="relu"}.
Dict options_from(lua_State* L, int first, const SchemaData& schema);
/// The same for a method that a class declares, where a table may be an argument itself: {64,
/// axis=1} holds both only if it has names. Null is not given.
Dict arguments_from(lua_State* L, int first, const SchemaData& parameters);
/// Takes `name` out of the options; null when it is not there.
Value take(Dict& options, std::string_view name);
/// Fills a struct of options.
template <class T>
T filled(const Dict& options, const SchemaData& schema) {
  T result;
  schema.configure(&result, options);
  return result;
}

}  // namespace crescent::lua
