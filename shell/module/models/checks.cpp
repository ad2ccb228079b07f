#include "models/checks.h"

#include "crescent/model/check.h"
#include "lua/class_table.h"
#include "training/report.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

const char* word_of(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::passed:
      return "passed";
    case CheckOutcome::failed:
      return "failed";
    case CheckOutcome::skipped:
      return "skipped";
  }
  return "";
}

Value fields_of(const CheckReport& report) {
  List rows;
  for (const CheckResult& result : report.results)
    rows.push_back(
        Dict{{"name", result.name}, {"outcome", word_of(result.outcome)}, {"text", result.text}});
  return Dict{{"ok", report.ok()}, {"subject", report.subject}, {"rows", std::move(rows)}};
}

std::string text_of_reports(const std::vector<CheckReport>& reports) {
  std::string text;
  for (const CheckReport& report : reports) text += report.text();
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool are_all_ok(const std::vector<CheckReport>& reports) {
  for (const CheckReport& report : reports)
    if (!report.ok()) return false;
  return true;
}

/// Pushes `fields` as a table that prints as the text of the reports. If a check failed and `raise`
/// is true, raises this text as an error instead.
OnStack push_or_raise(const std::vector<CheckReport>& reports, const Value& fields, bool raise) {
  if (raise && !are_all_ok(reports)) fail(text_of_reports(reports));
  push_report(current(), fields, text_of_reports(reports));
  return {};
}

OnStack push_or_raise(const CheckReport& report, bool raise) {
  return push_or_raise(std::vector{report}, fields_of(report), raise);
}

/// The tensors that a Lua function returned, which are on the stack above `bottom`.
Tensors results_above(lua_State* L, int bottom) {
  Tensors results;
  for (int i = bottom + 1; i <= lua_gettop(L); ++i)
    for (const Tensor& t : to_tensors(L, i)) results.push_back(t);
  if (results.empty()) fail("the function gave nothing; expected a tensor");
  return results;
}

Tensors call_function(const Ref& function, const Tensors& inputs) {
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, static_cast<int>(inputs.size()) + 4);
  const int bottom = lua_gettop(L);
  function.push(L);
  for (const Tensor& x : inputs) push(L, x);
  protected_call(L, static_cast<int>(inputs.size()), LUA_MULTRET);
  return results_above(L, bottom);
}

Variables variables_at(lua_State* L, int index) {
  Variables variables;
  if (lua_isnil(L, index)) return variables;
  const bool is_table = is_plain_table(L, index);
  const auto count = is_table ? static_cast<lua_Integer>(lua_rawlen(L, index)) : 1;
  for (lua_Integer i = 1; i <= count; ++i) {
    is_table ? static_cast<void>(lua_rawgeti(L, index, i)) : lua_pushvalue(L, index);
    variables.push_back(Read<Variable>::from(L, lua_gettop(L)));
    lua_pop(L, 1);
  }
  return variables;
}

/// The inputs converted to float64, in which finite differences are more precise; unchanged if the
/// function's results for float64 inputs would not be float64.
Tensors converted_to_float64(const Ref& function, const Tensors& inputs) {
  Tensors doubles;
  for (const Tensor& x : inputs)
    doubles.push_back(x.dtype() == DType::float32 ? ops::cast(x, DType::float64) : x);
  try {
    for (const Tensor& y : call_function(function, doubles))
      if (is_floating(y.dtype()) && y.dtype() != DType::float64) return inputs;
    return doubles;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    return inputs;
  }
}

OnStack check_gradient_of(Any function, Any inputs, Any variables, double step, double tolerance,
                          int64_t element_count, int64_t direction_count, int64_t seed,
                          bool raise) {
  Interruptible interruptible;
  lua_State* L = current();
  if (!lua_isfunction(L, function.index)) fail_expected(L, function.index, "a function");
  const Ref f(L, function.index);
  Tensors tensors = to_tensors(L, inputs.index);
  const Variables checked_variables = variables_at(L, variables.index);
  if (checked_variables.empty()) tensors = converted_to_float64(f, tensors);
  return push_or_raise(
      check_gradient([&](const Tensors& x) { return call_function(f, x); }, tensors,
                     checked_variables, {step, tolerance, element_count, direction_count, seed}),
      raise);
}

/// The name of the layer class at `index`, which is given as a class or by its name.
std::string layer_class_at(lua_State* L, int index) {
  if (lua_type(L, index) == LUA_TSTRING) return text_of(L, index);
  ClassPtr info = class_of_table(L, index);
  if (const ClassPtr* handle = info ? nullptr : to_handle<ClassPtr>(L, index)) info = *handle;
  if (!info || info->kind != Layer::kKind)
    fail_expected(L, index, "a class of layers, such as cr.layers.Dense");
  return info->name;
}

/// The shapes at `index`: {5, 4} is the shape of one input, {{5, 4}, {3}} are those of two.
std::vector<Shape> shapes_at(lua_State* L, int index) {
  if (!is_plain_table(L, index)) fail_expected(L, index, "the shape of a sample, such as {5, 4}");
  lua_rawgeti(L, index, 1);
  const bool has_several_shapes = lua_istable(L, -1);
  lua_pop(L, 1);
  return has_several_shapes ? Read<std::vector<Shape>>::from(L, index)
                            : std::vector<Shape>{to_shape(L, index)};
}

OnStack check_layer_of(Any layer, const NamedValueTable& options, Any shapes, Value dtypes,
                       double low, double high, std::optional<int64_t> batch_size, Value without,
                       int64_t seed, bool raise) {
  Interruptible interruptible;
  lua_State* L = current();
  LayerCheckOptions checks;
  checks.shapes = shapes_at(L, shapes.index);
  checks.dtypes = Codec<std::vector<DType>>::decode(dtypes);
  checks.low = low, checks.high = high;
  checks.batch_size = batch_size.value_or(0);
  if (!without.is_null()) checks.without = Codec<std::vector<std::string>>::decode(without);
  checks.seed = seed;
  return push_or_raise(check_layer(layer_class_at(L, layer.index), options.dict, checks), raise);
}

OnStack check_plugin_of(const std::string& name, const NamedValueTable& options, bool raise) {
  Interruptible interruptible;
  const std::vector<CheckReport> reports = check_plugin(name, options.dict);
  List classes;
  for (const CheckReport& report : reports) classes.push_back(fields_of(report));
  return push_or_raise(reports, Dict{{"ok", are_all_ok(reports)}, {"classes", std::move(classes)}},
                       raise);
}

}  // namespace

const std::vector<CallablePtr>& check_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    callables.push_back(
        bound("gradient -> a report", &check_gradient_of,
              {"function: a function", "inputs: a tensor or a list of them",
               "variables: a list of variables=nil", "step=0.0", "tolerance=0.0", "elements=10",
               "directions=3", "seed=1", "raise=true"},
              "Compares the gradient of a function with respect to its inputs and to "
              "variables with finite differences: check.gradient(function(a, b) ... end, "
              "{a, b}). Returns a report; with raise = true a mismatch is an error. A "
              "step or tolerance of 0 is chosen by the dtype."));
    callables.push_back(bound(
        "layer -> a report", &check_layer_of,
        {"class: a class or its name", "options=nil", "shape: a shape or a list of them=nil",
         "dtype: a dtype or a list of them=float32", "low=-1.0", "high=1.0", "batch_size=nil",
         "without: a list of strings=nil", "seed=1", "raise=true"},
        "Checks a layer of this class with these options on inputs of this shape (of one sample): "
        "shapes, gradients, configuration, files, precisions, batch sizes, masks. Returns a "
        "report; with raise = true a mismatch is an error. `without` names checks to leave out."));
    callables.push_back(
        bound("plugin -> a report", &check_plugin_of, {"name", "options=nil", "raise=true"},
              "Loads a plugin and checks all of its classes. `options` has, under the name of a "
              "class, a table of options, shapes, dtypes, low, high, batch_size."));
    return callables;
  }();
  return functions;
}

}  // namespace crescent::lua
