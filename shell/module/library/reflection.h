// What things are, as dictionaries: for help, completion and the prompt, which are written in Lua,
// and for the listing of everything that can be called.
#pragma once
#include <lua.hpp>

#include "crescent/registry/registry.h"
#include "values/callable.h"

namespace crescent::lua {

/// Name, signature, doc, parameters, result; options where it has some.
Dict describe_function(const Callable& f);
/// The same of the value at `index`; null where it is no function of the module.
Value describe_function(lua_State* L, int index);
Dict describe_class(const ClassInfo& info);
/// Of a kind of classes: cr.layers.
Dict describe_namespace(const std::string& kind);

/// Sets describe and printable in the module's table on top of the stack.
void set_reflection(lua_State* L);

}  // namespace crescent::lua
