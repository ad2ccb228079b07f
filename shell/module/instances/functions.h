// Functions of Lua where C++ wants an object: a loss, an activation, ...
#pragma once
#include "lua/handle.h"
#include "lua/state.h"

namespace crescent::lua {

/// A Lua function as an object of a kind: a loss, a metric, an activation, an initializer, ...
ObjectPtr function_as(std::string_view kind, const Ref& function, const std::string& name);
/// Functions inside of a value as objects of the kind; lists and dicts are searched.
Value adapted(const Value& value, std::string_view kind);
/// Options by position and name for a schema, functions adapted to what each option wants.
void adapt_options(Dict& options, const SchemaData& schema);
/// Makes `name` a known activation, loss, metric, ...: what files refer to by name.
void register_function(const std::string& name, const Ref& function);

}  // namespace crescent::lua
