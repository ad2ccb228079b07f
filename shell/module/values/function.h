// Lua functions that C++ can call with Values.
#pragma once
#include <functional>

#include "crescent/base/value.h"
#include "values/callable.h"

namespace crescent::lua {

using ValueFunction = std::function<Value(const List& arguments)>;

/// A C++ function that calls the Lua function at `index`. It returns a single result as it is, and
/// several results as a list.
ValueFunction function_at(int index);

/// Fails unless the value is a function or a callable object.
void expect_callable(lua_State* L, int index);

/// Calls the function that lies on the stack below its `argument_count` arguments; returns all
/// results, which also stay on the stack.
List call_for_results(lua_State* L, int argument_count);

/// Replaces the topmost `upvalue_count` values on the stack by a Lua function that has them as
/// upvalues, from the second one on. The function calls `callable`, which must live as long as the
/// process.
void push_closure(lua_State* L, const Callable& callable, int upvalue_count);

}  // namespace crescent::lua
