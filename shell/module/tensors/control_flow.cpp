// Functions of cr.ops that call functions of Lua. While a program is recorded a condition has no
// value yet: then all branches are recorded, and the condition chooses among their results.
#include "tensors/control_flow.h"

#include <algorithm>
#include <functional>

#include "crescent/operation.h"
#include "crescent/program.h"
#include "values/callable.h"

namespace crescent::lua {
namespace {

using Function = std::function<Value(const List& arguments)>;

/// A function of Lua: one result as itself, several as a list.
Function function_at(int index) {
  const Ref function(current(), index);
  return [function](const List& arguments) -> Value {
    lua_State* L = current();
    const Height height(L);
    const int top = lua_gettop(L);
    reserve(L, static_cast<int>(arguments.size()) + 2);
    function.push(L);
    for (const Value& argument : arguments) push_value(L, argument);
    protected_call(L, static_cast<int>(arguments.size()), LUA_MULTRET);
    const int results = lua_gettop(L) - top;
    if (results == 1) return to_value(L, top + 1);
    List list;
    for (int i = 1; i <= results; ++i) list.push_back(to_value(L, top + i));
    return list;
  };
}

/// Whether it holds, where that is known.
std::optional<bool> known(const Value& condition) {
  if (condition.is_bool()) return condition.as_bool();
  const Tensor tensor = Codec<Tensor>::decode(condition);
  if (!tensor) fail("expected a condition, got ", condition);
  if (tensor.is_abstract()) return std::nullopt;
  return tensor.item() != 0;
}

/// Tensors of the one where the condition holds, else of the other; lists item by item.
Value chosen(const Tensor& condition, const Value& a, const Value& b) {
  if (a.is_null() && b.is_null()) return {};
  if (!a.is_list() || !b.is_list())
    return Codec<Tensor>::encode(
        ops::where(condition, Codec<NumberOrTensor>::decode(a), Codec<NumberOrTensor>::decode(b)));
  if (a.as_list().size() != b.as_list().size())
    fail("the branches give ", a.as_list().size(), " and ", b.as_list().size(), " results");
  List list;
  for (size_t i = 0; i < a.as_list().size(); ++i)
    list.push_back(chosen(condition, a.as_list()[i], b.as_list()[i]));
  return list;
}

Value cond(const Value& pred, Any true_fn, Any false_fn) {
  const Function yes = function_at(true_fn.index), no = function_at(false_fn.index);
  if (const auto holds = known(pred)) return *holds ? yes({}) : no({});
  const Value a = yes({});
  return chosen(Codec<Tensor>::decode(pred), a, no({}));
}

/// Branches count from 1, as positions in tables do; beyond the ends the first and the last count.
Value switch_to(const Value& index, const Value& branches, const Value& operands) {
  if (!branches.is_list() || branches.as_list().empty())
    fail("expected a table of functions, got ", branches);
  const Tensor which = Codec<Tensor>::decode(index);
  const auto count = static_cast<int64_t>(branches.as_list().size());
  const auto call = [&](int64_t i) {
    lua_State* L = current();
    const Height height(L);
    reserve(L, 2);
    push_value(L, branches.as_list()[static_cast<size_t>(i)]);
    return function_at(lua_gettop(L))(operands.is_list()   ? operands.as_list()
                                      : operands.is_null() ? List()
                                                           : List{operands});
  };
  if (!which.is_abstract())
    return call(std::clamp<int64_t>(static_cast<int64_t>(which.item()), 1, count) - 1);
  Value result = call(count - 1);
  for (int64_t i = count - 1; i-- > 0;)
    result = chosen(ops::less_equal(which, static_cast<double>(i + 1)), call(i), result);
  return result;
}

Value while_loop(Any condition, Any body, const Value& loop_vars,
                 std::optional<int64_t> maximum_iterations) {
  const Function holds = function_at(condition.index), step = function_at(body.index);
  const auto arguments = [](const Value& vars) {
    return vars.is_list() ? vars.as_list() : List{vars};
  };
  Value vars = loop_vars;
  Tensor active;
  for (int64_t i = 0; !maximum_iterations || i < *maximum_iterations; ++i) {
    const Value test = holds(arguments(vars));
    const auto now = known(test);
    if (now && !*now) break;
    if (!now && !maximum_iterations)
      fail("while_loop: when it ends depends on values, which are not known while a program is ",
           "recorded: give maximum_iterations");
    Value next = step(arguments(vars));
    if (loop_vars.is_list() && !next.is_list()) next = List{next};
    if (!now) {
      const Tensor more = ops::cast(Codec<Tensor>::decode(test), DType::boolean);
      active = active ? ops::logical_and(active, more) : more;
    }
    vars = active ? chosen(active, next, vars) : next;
  }
  return vars;
}

Value fori_loop(int64_t lower, int64_t upper, Any body_fun, const Value& init_val) {
  const Function step = function_at(body_fun.index);
  Value value = init_val;
  for (int64_t i = lower; i < upper; ++i) value = step({i, value});
  return value;
}

/// f of each row of the leading axis of one tensor or of several, recorded once.
Value map(Any f, const Value& xs) {
  const Function function = function_at(f.index);
  bool single = true;
  const auto step = [&](const Tensors&, const Tensors& rows) {
    const Value result = function(
        {xs.is_list() ? Codec<Tensors>::encode(rows) : Codec<Tensor>::encode(rows.front())});
    single = !result.is_list();
    return ops::ScanResult{{}, Codec<Tensors>::decode(result)};
  };
  const Tensors outputs = ops::scan(step, {}, Codec<Tensors>::decode(xs)).outputs;
  return single ? Codec<Tensor>::encode(outputs.front()) : Codec<Tensors>::encode(outputs);
}

/// body(states, step) returns the next states and what to output.
std::tuple<Tensors, Tensors> scan(Any body, const Tensors& states, const Tensors& sequences,
                                  bool reverse) {
  const Ref function(current(), body.index);
  auto step = [&](const Tensors& now, const Tensors& inputs) {
    lua_State* L = current();
    Height height(L);
    function.push(L);
    push(L, now);
    push(L, inputs);
    protected_call(L, 2, 2);
    return ops::ScanResult{to_tensors(L, -2), to_tensors(L, -1)};
  };
  ops::ScanResult result = ops::scan(step, states, sequences, reverse);
  return {result.states, result.outputs};
}

bool is_tensor(Any value) { return is_tensor_like(current(), value.index); }

}  // namespace

const std::vector<CallablePtr>& control_flow_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> all;
    all.push_back(bound("cond", &cond, {"pred", "true_fn", "false_fn"},
                        "One of two functions without arguments; while a program is recorded "
                        "both run."));
    all.push_back(bound("switch", &switch_to, {"index", "branches", "operands=nil"},
                        "The branch with this position, called with the operands."));
    all.push_back(bound("while_loop", &while_loop,
                        {"cond", "body", "loop_vars", "maximum_iterations=nil"},
                        "body(...) gives the next variables as long as cond(...) holds."));
    all.push_back(bound("fori_loop", &fori_loop, {"lower", "upper", "body_fun", "init_val"},
                        "value = body_fun(i, value) for i from lower to before upper."));
    for (const char* name : {"map", "vectorized_map"})
      all.push_back(bound(name, &map, {"f", "xs"},
                          "f of each row of the leading axis of a tensor, or of several."));
    all.push_back(bound("scan", &scan, {"body", "states", "sequences", "reverse=false"},
                        "body(states, step) gives the next states and outputs, step by step."));
    all.push_back(bound("is_tensor", &is_tensor, {"x=nil"}, "Whether it is a tensor or variable."));
    return all;
  }();
  return functions;
}

}  // namespace crescent::lua
