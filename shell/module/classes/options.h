// Options of methods and constructors: positional arguments in the order of a schema, followed by
// one table of keyword options.
#pragma once
#include "instances/functions.h"
#include "values/read.h"

namespace crescent::lua {

/// Converts the arguments from `first` on to options by name. A single plain table may contain both
/// positional and named options: {64, activation="relu"}.
Dict options_from(lua_State* L, int first, const SchemaData& schema);
/// Converts the arguments of a declared method to a dictionary. A table counts as a mixture of
/// positional and named arguments only if it has names, such as {64, axis=1}; otherwise it is
/// itself an argument. Null counts as not given.
Dict arguments_from(lua_State* L, int first, const SchemaData& parameters);
/// Removes `name` from the options and returns its value; returns null if it is missing.
Value take_option(Dict& options, std::string_view name);

}  // namespace crescent::lua
