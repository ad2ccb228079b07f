// Descriptions of functions, classes and objects as dictionaries. The help, the completion and the
// prompt, which are written in Lua, and the listing use them.
#pragma once
#include <lua.hpp>

#include "crescent/registry/registry.h"
#include "values/callable.h"

namespace crescent::lua {

/// The name, signature, documentation, parameters and result of a function, and its options if it
/// has some.
Dict describe_function(const Callable& f);
/// The description of the function at `index`; null for values other than functions of the module.
Value describe_function(lua_State* L, int index);
Dict describe_class(const ClassInfo& info);
/// The description of a namespace: cr.layers.
Dict describe_namespace(const std::string& kind);

/// Adds describe and printable to the table of the module on top of the stack.
void set_reflection(lua_State* L);

}  // namespace crescent::lua
