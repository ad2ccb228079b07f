#include "tensors/transforms.h"

#include "crescent/program/gradient.h"
#include "crescent/program/program.h"
#include "tensors/structure.h"
#include "tensors/vectorize.h"
#include "values/function.h"

namespace crescent::lua {
namespace {

// ---- custom_gradient

/// An op (inputs..., results...) -> results whose gradients are computed by a Lua function. Two
/// such ops with the same number of results are equal, because their values do not depend on the
/// function.
class CustomGradient final : public Op {
 public:
  CustomGradient(size_t result_count, ValueFunction gradient)
      : result_count_(result_count), gradient_(std::move(gradient)) {}
  std::string_view name() const override { return "custom_gradient"; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const auto results = in.last(result_count_);
    return {results.begin(), results.end()};
  }
  Tensors decompose(std::span<const Tensor> inputs) const override {
    const auto results = inputs.last(result_count_);
    return {results.begin(), results.end()};
  }
  bool supports_dtype(DType) const override { return true; }
  Tensors vjp(const Vjp& v) const override;
  bool equals(const Op& other) const override {
    auto* gradient_op = dynamic_cast<const CustomGradient*>(&other);
    return gradient_op && gradient_op->result_count_ == result_count_;
  }
  size_t hash() const override {
    return crescent::detail::hash_field(result_count_) ^ 0x6772616469656e74;
  }
  std::string text() const override { return concat("custom_gradient(", result_count_, ")"); }

 private:
  size_t result_count_;
  ValueFunction gradient_;
};

Tensors CustomGradient::vjp(const Vjp& v) const {
  const size_t input_count = v.inputs.size() - result_count_;
  List upstream;
  for (size_t i = 0; i < result_count_; ++i)
    upstream.push_back(
        Codec<Tensor>::encode(v.gradients[i] ? v.gradients[i] : ops::zeros_like(v.outputs[i])));
  const Value result = gradient_(upstream);
  const List result_list = result.is_list() ? result.as_list() : List{result};
  if (result_list.size() != input_count)
    fail("custom_gradient: expected a gradient for each of the ", input_count,
         " tensors given, got ", result_list.size());
  Tensors gradients(v.inputs.size());
  for (size_t i = 0; i < input_count; ++i) {
    const bool is_missing = result_list[i].is_null() || result_list[i] == Value(false);
    if (v.wanted[i] && !is_missing) gradients[i] = Codec<Tensor>::decode(result_list[i]);
  }
  return gradients;
}

class CallWithGradient final : public Callable {
 public:
  CallWithGradient() : Callable("function with a gradient of its own", {}, "") {}
  int call(lua_State* L) const override {
    const int count = lua_gettop(L);
    reserve(L, count + 4);
    Tensors inputs;
    for (int i = 1; i <= count; ++i)
      for (Tensor& tensor : tensors_in(to_value(L, i))) inputs.push_back(std::move(tensor));
    lua_pushvalue(L, lua_upvalueindex(2));
    for (int i = 1; i <= count; ++i) lua_pushvalue(L, i);
    const List results = call_for_results(L, count);
    if (results.size() != 2)
      fail(
          "custom_gradient: expected the function to give its result and a "
          "function for the gradient, got ",
          results.size(), " values");
    expect_callable(L, -1);
    const Tensors result_tensors = tensors_in(results[0]);
    const size_t result_count = result_tensors.size();
    inputs.insert(inputs.end(), result_tensors.begin(), result_tensors.end());
    const auto op =
        std::make_shared<const CustomGradient>(result_count, function_at(lua_gettop(L)));
    push_value(L, with_tensors(results[0], crescent::apply(op, inputs)));
    return 1;
  }
};

OnStack custom_gradient(Any f) {
  static const CallWithGradient call;
  lua_State* L = current();
  expect_callable(L, f.index);
  lua_pushvalue(L, f.index);
  push_closure(L, call, 1);
  return {};
}

// ---- jvp

/// The directional derivative (jvp) of the results along the tangents. The gradient g(u) of
/// sum(results * u) with respect to the primals is linear in u, so the gradient of sum(g(u) *
/// tangents) with respect to u is this derivative.
Tensors directional_derivative(GradientTape& tape, const Tensors& results, const Tensors& primals,
                               const Tensors& tangents) {
  Tensors weights;
  for (const Tensor& result : results) weights.push_back(ops::ones_like(result));
  GradientTape weight_tape;
  for (const Tensor& weight : weights) weight_tape.watch(weight);
  const Tensors gradients = tape.gradient(results, primals, weights);
  weight_tape.stop();
  Tensors nonempty_gradients, directions;
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i]) nonempty_gradients.push_back(gradients[i]), directions.push_back(tangents[i]);
  Tensors derivative = nonempty_gradients.empty()
                           ? Tensors(results.size())
                           : weight_tape.gradient(nonempty_gradients, weights, directions);
  for (size_t i = 0; i < results.size(); ++i)
    if (!derivative[i]) derivative[i] = ops::zeros_like(results[i]);
  return derivative;
}

std::tuple<Value, Value, Value> jvp(Any fun, const Value& primals, const Value& tangents,
                                    bool has_aux) {
  lua_State* L = current();
  expect_callable(L, fun.index);
  Tensors primal_values, tangent_values = tensors_in(tangents);
  for (const Tensor& primal : tensors_in(primals)) primal_values.push_back(primal.alias());
  if (primal_values.size() != tangent_values.size())
    fail("jvp: expected a tangent for each of the ", primal_values.size(), " primals, got ",
         tangent_values.size());
  for (size_t i = 0; i < primal_values.size(); ++i)
    if (!tangent_values[i].shape().compatible(primal_values[i].shape()) ||
        tangent_values[i].dtype() != primal_values[i].dtype())
      fail("jvp: primal ", i + 1, " is ", primal_values[i].spec(), ", its tangent ",
           tangent_values[i].spec());
  const Value primal_value = with_tensors(primals, primal_values);
  const List arguments = primal_value.is_list() ? primal_value.as_list() : List{primal_value};
  GradientTape tape;
  for (const Tensor& primal : primal_values) tape.watch(primal);
  reserve(L, static_cast<int>(arguments.size()) + 6);
  lua_pushvalue(L, fun.index);
  for (const Value& argument : arguments) push_value(L, argument);
  const List results = call_for_results(L, static_cast<int>(arguments.size()));
  tape.stop();
  if (results.size() != (has_aux ? 2 : 1))
    fail("jvp: expected the function to give ", has_aux ? "its result and more" : "one result",
         ", got ", results.size(), " values");
  const Tensors derivative =
      directional_derivative(tape, tensors_in(results[0]), primal_values, tangent_values);
  return {results[0], with_tensors(results[0], derivative), has_aux ? results[1] : Value()};
}

}  // namespace

const std::vector<CallablePtr>& transform_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    callables.push_back(
        bound("custom_gradient -> a function", &custom_gradient, {"f: a function"},
              "Wraps a function f(...) that returns its result and a function from the gradient of "
              "the result to the gradients of the arguments, which replaces the derivative."));
    callables.push_back(bound(
        "jvp -> the result, its tangent, and what else the function gives", &jvp,
        {"fun: a function", "primals: a tensor or a structure of them",
         "tangents: a tensor or a structure of them", "has_aux=false"},
        "The value of a function at primals, and its derivative in the direction of tangents."));
    callables.push_back(vectorize_function());
    return callables;
  }();
  return functions;
}

}  // namespace crescent::lua
