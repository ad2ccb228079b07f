#include "values/function.h"

#include "values/convert.h"

namespace crescent::lua {

void push_closure(lua_State* L, const Callable& callable, int upvalue_count) {
  lua_pushlightuserdata(L, const_cast<Callable*>(&callable));
  lua_insert(L, -upvalue_count - 1);
  lua_pushcclosure(L, crescent_invoke, upvalue_count + 1);
}

void expect_callable(lua_State* L, int index) {
  if (!lua_isfunction(L, index) && !lua_isuserdata(L, index) && !lua_istable(L, index))
    fail_expected(L, index, "a function");
}

List call_for_results(lua_State* L, int argument_count) {
  const int top = lua_gettop(L) - argument_count - 1;
  protected_call(L, argument_count, LUA_MULTRET);
  List results;
  for (int i = top + 1; i <= lua_gettop(L); ++i) results.push_back(to_value(L, i));
  return results;
}

ValueFunction function_at(int index) {
  const Ref function(current(), index);
  return [function](const List& arguments) -> Value {
    lua_State* L = current();
    const StackRestorer restorer(L);
    reserve(L, static_cast<int>(arguments.size()) + 2);
    function.push(L);
    for (const Value& argument : arguments) push_value(L, argument);
    List results = call_for_results(L, static_cast<int>(arguments.size()));
    return results.size() == 1 ? results.front() : Value(std::move(results));
  };
}

}  // namespace crescent::lua
