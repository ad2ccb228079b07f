// Makes objects such as losses and activations from Lua functions.
#pragma once
#include "lua/handle.h"
#include "lua/state.h"

namespace crescent::lua {

/// Makes an object of the given kind (a loss, a metric, an activation, an initializer, ...) that
/// calls a Lua function.
ObjectPtr function_as(std::string_view kind, const Ref& function, const std::string& name);
/// The value in which all functions, also those in lists and dictionaries, are replaced by objects
/// of the kind.
Value with_function_objects(const Value& value, std::string_view kind);
/// Replaces functions in options by objects of the kinds that the schema expects.
void adapt_options(Dict& options, const SchemaData& schema);
/// Registers a function as activation, loss, metric, ... under this name, by which files refer to
/// it.
void register_function(const std::string& name, const Ref& function);
/// Removes the name of a registered function from the registry. Objects made from the function keep
/// the name.
void withdraw_function(const std::string& name);

}  // namespace crescent::lua
