// Functions of Lua as C++ functions of values.
#pragma once
#include <functional>

#include "crescent/base/value.h"
#include "values/callable.h"

namespace crescent::lua {

using ValueFunction = std::function<Value(const List& arguments)>;

/// A function that calls the value at `index`; it returns a single result, or a list of several.
ValueFunction function_at(int index);

/// Fails unless the value is a function or a callable object.
void expect_callable(lua_State* L, int index);

/// Calls the function below its `arguments` on top of the stack; returns all results, which also
/// stay on the stack.
List call_for_results(lua_State* L, int arguments);

/// Replaces the `upvalues` values on top of the stack by a function of Lua that has them as
/// upvalues from the second on. It calls `callable`, which must live as long as the process.
void push_closure(lua_State* L, const Callable& callable, int upvalues);

}  // namespace crescent::lua
