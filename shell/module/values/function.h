// Functions of Lua as functions of values.
#pragma once
#include <functional>

#include "crescent/base/value.h"
#include "values/callable.h"

namespace crescent::lua {

using ValueFunction = std::function<Value(const List& arguments)>;

/// The value at `index`, which is called; one result as itself, several as a list.
ValueFunction function_at(int index);

/// Fails for what is no function, and no object that may be called as one.
void expect_callable(lua_State* L, int index);

/// What the function on top of the stack, below its `arguments`, gives: all its results, which stay
/// on the stack too.
List call_for_results(lua_State* L, int arguments);

/// Puts a function of Lua in the place of so many values on top of the stack, which are its
/// upvalues from the second on: it calls `callable`, which lives as long as the process.
void push_closure(lua_State* L, const Callable& callable, int upvalues);

}  // namespace crescent::lua
