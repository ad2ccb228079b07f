// Functions of cr.ops that call Lua functions. While a program is recorded, a condition has no
// value yet: then all branches are recorded, and the condition selects one of their results when
// the program runs.
#include "tensors/control_flow.h"

#include <algorithm>

#include "crescent/layer/operation.h"
#include "crescent/program/program.h"
#include "crescent/system/interrupt.h"
#include "tensors/structure.h"
#include "values/callable.h"
#include "values/function.h"

namespace crescent::lua {
namespace {

/// The value of the condition; nullopt if it has no value yet because a program is being recorded.
std::optional<bool> constant_condition(const Value& condition) {
  if (condition.is_bool()) return condition.as_bool();
  const Tensor tensor = tensor_in(condition);
  if (!tensor) fail("expected a condition, got ", condition);
  if (tensor.is_abstract()) return std::nullopt;
  if (tensor.size() != 1)
    fail("expected a condition of one element, got shape ", tensor.shape(),
         "; cr.ops.where chooses for each element");
  return tensor.item() != 0;
}

/// Selects elementwise from a where the condition is true, else from b; lists are handled item by
/// item.
Value select_nested(const Tensor& condition, const Value& a, const Value& b) {
  if (a.is_null() && b.is_null()) return {};
  if (!a.is_list() || !b.is_list())
    return Codec<Tensor>::encode(
        ops::where(condition, Codec<NumberOrTensor>::decode(a), Codec<NumberOrTensor>::decode(b)));
  if (a.as_list().size() != b.as_list().size())
    fail("the branches give ", a.as_list().size(), " and ", b.as_list().size(), " results");
  List list;
  for (size_t i = 0; i < a.as_list().size(); ++i)
    list.push_back(select_nested(condition, a.as_list()[i], b.as_list()[i]));
  return list;
}

Value cond(const Value& pred, Any true_fn, Any false_fn) {
  const ValueFunction true_branch = function_at(true_fn.index),
                      false_branch = function_at(false_fn.index);
  if (const auto known_condition = constant_condition(pred))
    return *known_condition ? true_branch({}) : false_branch({});
  const Value a = true_branch({});
  return select_nested(tensor_in(pred), a, false_branch({}));
}

/// Calls the branch with this index, which counts from 0 as in Keras. An index outside of the list
/// selects the first or the last branch.
Value switch_to(const Value& index, const Value& branches, const Value& operands) {
  const auto is_function = [](const Value& branch) { return branch.is_object(); };
  if (!branches.is_list() || branches.as_list().empty() ||
      !std::ranges::all_of(branches.as_list(), is_function))
    fail("expected a table of functions, got ", branches);
  const Tensor branch_index = tensor_in(index);
  const auto count = static_cast<int64_t>(branches.as_list().size());
  const auto call = [&](int64_t i) {
    lua_State* L = current();
    const StackRestorer restorer(L);
    reserve(L, 2);
    push_value(L, branches.as_list()[i]);
    return function_at(lua_gettop(L))(operands.is_list()   ? operands.as_list()
                                      : operands.is_null() ? List()
                                                           : List{operands});
  };
  if (!branch_index.is_abstract())
    return call(std::clamp<int64_t>(static_cast<int64_t>(branch_index.item()), 0, count - 1));
  Value result = call(count - 1);
  for (int64_t i = count - 1; i-- > 0;)
    result = select_nested(ops::less_equal(branch_index, i), call(i), result);
  return result;
}

Value while_loop(Any condition, Any body, const Value& loop_vars,
                 std::optional<int64_t> maximum_iterations) {
  const ValueFunction loop_condition = function_at(condition.index), step = function_at(body.index);
  const auto arguments = [](const Value& vars) {
    return vars.is_list() ? vars.as_list() : List{vars};
  };
  Value vars = loop_vars;
  // whether the loop continues; empty until a condition depends on values of tensors
  Tensor is_active;
  for (int64_t i = 0; !maximum_iterations || i < *maximum_iterations; ++i) {
    heed_interruption("while_loop went on");
    const Value condition_value = loop_condition(arguments(vars));
    const auto known_condition = constant_condition(condition_value);
    if (known_condition && !*known_condition) break;
    if (!known_condition && !maximum_iterations)
      fail("while_loop: when it ends depends on values, which are not known while a program is ",
           "recorded: give maximum_iterations");
    Value next = step(arguments(vars));
    if (loop_vars.is_list() && !next.is_list()) next = List{next};
    if (!known_condition) {
      const Tensor still_active = ops::cast(Codec<Tensor>::decode(condition_value), DType::boolean);
      is_active = is_active ? ops::logical_and(is_active, still_active) : still_active;
    }
    vars = is_active ? select_nested(is_active, next, vars) : next;
  }
  return vars;
}

Value fori_loop(int64_t lower, int64_t upper, Any body_fun, const Value& init_val) {
  const ValueFunction step = function_at(body_fun.index);
  Value value = init_val;
  for (int64_t i = lower; i < upper; ++i) {
    heed_interruption("fori_loop went on");
    value = step({i, value});
  }
  return value;
}

/// Calls f for each row of a tensor, or of all tensors in a table together. f is recorded once.
Value map(Any f, const Value& xs) {
  const ValueFunction function = function_at(f.index);
  Value result_structure;
  const auto step = [&](const Tensors&, const Tensors& rows) {
    result_structure = function({with_tensors(xs, rows)});
    return ops::ScanResult{{}, tensors_in(result_structure)};
  };
  const Tensors outputs = ops::scan(step, {}, tensors_in(xs)).outputs;
  return with_tensors(result_structure, outputs);
}

/// The inputs of a scan that has no sequences: the numbers of its steps.
Tensors step_numbers(std::optional<int64_t> length) {
  if (!length) fail("scan: expected xs, or how many steps as length");
  if (*length < 0) fail("scan: expected a length of at least 0, got ", *length);
  return {ops::arange(*length)};
}

/// Implements scan: f(carry, x) returns the next carry and the output of the step.
std::tuple<Value, Value> scan(Any f, const Value& init, const Value& xs,
                              std::optional<int64_t> length, bool reverse, Any unroll) {
  lua_State* L = current();
  if (!lua_isboolean(L, unroll.index) && to_integer(L, unroll.index) < 1)
    fail("scan: unroll must be a boolean or at least 1");
  const Ref function(L, f.index);
  const Tensors sequences = tensors_in(xs),
                steps = sequences.empty() ? step_numbers(length) : sequences;
  if (length && steps[0].rank() > 0 && steps[0].dim(0) >= 0 && steps[0].dim(0) != *length)
    fail("scan: length is ", *length, ", xs has ", steps[0].dim(0), " steps");
  Value outputs;
  const auto step = [&](const Tensors& states, const Tensors& rows) {
    lua_State* state = current();
    const StackRestorer restorer(state);
    reserve(state, 4);
    function.push(state);
    push_value(state, with_tensors(init, states));
    sequences.empty() ? lua_pushnil(state) : push_value(state, with_tensors(xs, rows));
    protected_call(state, 2, 2);
    outputs = to_value(state, -1);
    return ops::ScanResult{tensors_in(to_value(state, -2)), tensors_in(outputs)};
  };
  const ops::ScanResult result = ops::scan(step, tensors_in(init), steps, reverse);
  return {with_tensors(init, result.states), with_tensors(outputs, result.outputs)};
}

// ---- associative_scan

using Combine = std::function<Tensors(const Tensors& a, const Tensors& b)>;

Tensors slice_every_second(const Tensors& tensors, int axis, int64_t first, int64_t last) {
  Tensors slices;
  for (const Tensor& x : tensors) slices.push_back(ops::slice_axis(x, axis, first, last, 2));
  return slices;
}

/// Joins the elements of two tensors alternately: even[0], odd[0], even[1], ...
Tensor interleaved(const Tensor& even, const Tensor& odd, int axis) {
  const int64_t pair_count = odd.dim(axis), even_count = even.dim(axis);
  Shape shape = odd.shape();
  shape.set(axis, 2 * pair_count);
  const Tensor pairwise = ops::reshape(
      ops::stack(Tensors{ops::slice_axis(even, axis, 0, pair_count), odd}, axis + 1), shape);
  return even_count == pair_count
             ? pairwise
             : ops::concatenate(
                   Tensors{pairwise, ops::slice_axis(even, axis, pair_count, even_count)}, axis);
}

/// A parallel scan: combines neighbouring pairs and scans the combined values recursively, which
/// gives every second result; computes the other results from these. The recursion depth is log n.
Tensors scan_pairs(const Combine& f, const Tensors& elems, int axis) {
  const int64_t n = elems[0].dim(axis);
  if (n < 2) return elems;
  const Tensors odd = scan_pairs(
      f, f(slice_every_second(elems, axis, 0, n - 1), slice_every_second(elems, axis, 1, n)), axis);
  Tensors even;
  for (const Tensor& x : elems) even.push_back(ops::slice_axis(x, axis, 0, 1));
  if (n > 2) {
    Tensors previous;
    for (const Tensor& x : odd) previous.push_back(ops::slice_axis(x, axis, 0, (n - 1) / 2));
    const Tensors later_even = f(previous, slice_every_second(elems, axis, 2, n));
    for (size_t i = 0; i < even.size(); ++i)
      even[i] = ops::concatenate(Tensors{even[i], later_even[i]}, axis);
  }
  Tensors results;
  for (size_t i = 0; i < even.size(); ++i) results.push_back(interleaved(even[i], odd[i], axis));
  return results;
}

Value associative_scan(Any f, const Value& elems, bool reverse, int64_t axis) {
  const ValueFunction function = function_at(f.index);
  Tensors tensors = tensors_in(elems);
  if (tensors.empty()) fail("associative_scan: expected tensors, got ", elems);
  const int scan_axis = tensors[0].shape().axis(static_cast<int>(axis));
  for (const Tensor& x : tensors)
    if (x.rank() <= scan_axis || x.dim(scan_axis) != tensors[0].dim(scan_axis) ||
        x.dim(scan_axis) < 0)
      fail("associative_scan: expected tensors of one known length along axis ", axis, ", got ",
           tensors[0].shape(), " and ", x.shape());
  const auto flip_if_reverse = [&](Tensors values) {
    if (reverse)
      for (Tensor& x : values) x = ops::flip(x, {scan_axis});
    return values;
  };
  const Combine combine = [&](const Tensors& a, const Tensors& b) {
    const Tensors result = tensors_in(function({with_tensors(elems, a), with_tensors(elems, b)}));
    if (result.size() != tensors.size())
      fail("associative_scan: expected f to give ", tensors.size(), " tensors, got ",
           result.size());
    return result;
  };
  return with_tensors(elems,
                      flip_if_reverse(scan_pairs(combine, flip_if_reverse(tensors), scan_axis)));
}

bool is_tensor(Any value) { return is_tensor_like(current(), value.index); }

}  // namespace

const std::vector<CallablePtr>& control_flow_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    callables.push_back(bound("cond -> a tensor or a structure of them", &cond,
                              {"pred: a tensor", "true_fn: a function", "false_fn: a function"},
                              "Calls one of two functions without arguments, as pred says; while a "
                              "program is recorded both are traced."));
    callables.push_back(
        bound("switch -> a tensor or a structure of them", &switch_to,
              {"index: a tensor", "branches: a list of functions", "operands: tensors=nil"},
              "Calls the branch at this index, which counts from 0, with the operands. An index "
              "outside of the list selects the first or the last branch."));
    callables.push_back(
        bound("while_loop -> a tensor or a structure of them", &while_loop,
              {"cond: a function", "body: a function", "loop_vars: a tensor or a structure of them",
               "maximum_iterations=nil"},
              "Repeats loop_vars = body(...) while cond(...) is true."));
    callables.push_back(bound(
        "fori_loop -> a tensor or a structure of them", &fori_loop,
        {"lower", "upper", "body_fun: a function", "init_val: a tensor or a structure of them"},
        "Repeats value = body_fun(i, value) for i from lower to upper - 1."));
    callables.push_back(bound(
        "map -> a tensor or a structure of them", &map,
        {"f: a function", "xs: a tensor or a structure of them"},
        "Applies f to each row of a tensor along its first axis, or to those of several tensors."));
    callables.push_back(
        bound("vectorized_map -> a tensor or a structure of them", &map,
              {"function: a function", "elements: a tensor or a structure of them"},
              "Applies a function to each row of a tensor along its first axis, or to "
              "those of several tensors."));
    callables.push_back(
        bound("scan -> the last carry, the results of all steps", &scan,
              {"f: a function", "init: a tensor or a structure of them",
               "xs: a tensor or a structure of them=nil", "length=nil", "reverse=false",
               "unroll: true, false or an integer=1"},
              "Loops over the first axis of xs: f(carry, x) returns the next carry and an output. "
              "Returns the last carry and the stacked outputs; xs, carry and outputs may be tables "
              "of tensors. The loop is compiled as one, so unroll has no effect on results."));
    callables.push_back(bound(
        "associative_scan -> a tensor or a structure of them", &associative_scan,
        {"f: a function", "elems: a tensor or a structure of them", "reverse=false", "axis=0"},
        "The results of combining the first 1, 2, 3, ... elements with f, an associative function, "
        "which may be applied to neighbours in any order."));
    callables.push_back(bound(
        "convert_to_numpy -> a tensor or a structure of them",
        [](const Tensor& x) { return push_numbers(current(), x), OnStack{}; }, {"x"},
        "The values as nested tables, like t:totable()."));
    callables.push_back(bound("is_tensor", &is_tensor, {"x: any value=nil"},
                              "Whether the value is a tensor or a variable."));
    return callables;
  }();
  return functions;
}

}  // namespace crescent::lua
