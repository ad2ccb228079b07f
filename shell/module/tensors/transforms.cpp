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
  CustomGradient(size_t results, ValueFunction gradient)
      : results_(results), gradient_(std::move(gradient)) {}
  std::string_view name() const override { return "custom_gradient"; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const auto results = in.last(results_);
    return {results.begin(), results.end()};
  }
  Tensors decompose(std::span<const Tensor> inputs) const override {
    const auto results = inputs.last(results_);
    return {results.begin(), results.end()};
  }
  bool supports_dtype(DType) const override { return true; }
  Tensors vjp(const Vjp& v) const override;
  bool equals(const Op& other) const override {
    auto* same = dynamic_cast<const CustomGradient*>(&other);
    return same && same->results_ == results_;
  }
  size_t hash() const override {
    return crescent::detail::hash_field(results_) ^ 0x6772616469656e74;
  }
  std::string text() const override { return concat("custom_gradient(", results_, ")"); }

 private:
  size_t results_;
  ValueFunction gradient_;
};

Tensors CustomGradient::vjp(const Vjp& v) const {
  const size_t inputs = v.inputs.size() - results_;
  List upstream;
  for (size_t i = 0; i < results_; ++i)
    upstream.push_back(
        Codec<Tensor>::encode(v.gradients[i] ? v.gradients[i] : ops::zeros_like(v.outputs[i])));
  const Value given = gradient_(upstream);
  const List list = given.is_list() ? given.as_list() : List{given};
  if (list.size() != inputs)
    fail("custom_gradient: expected a gradient for each of the ", inputs, " tensors given, got ",
         list.size());
  Tensors gradients(v.inputs.size());
  for (size_t i = 0; i < inputs; ++i) {
    const bool none = list[i].is_null() || list[i] == Value(false);
    if (v.wanted[i] && !none) gradients[i] = Codec<Tensor>::decode(list[i]);
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
    const Tensors computed = tensors_in(results[0]);
    const size_t given = computed.size();
    inputs.insert(inputs.end(), computed.begin(), computed.end());
    const auto op = std::make_shared<const CustomGradient>(given, function_at(lua_gettop(L)));
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
  GradientTape linear;
  for (const Tensor& weight : weights) linear.watch(weight);
  const Tensors gradients = tape.gradient(results, primals, weights);
  linear.stop();
  Tensors reached, directions;
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i]) reached.push_back(gradients[i]), directions.push_back(tangents[i]);
  Tensors forward =
      reached.empty() ? Tensors(results.size()) : linear.gradient(reached, weights, directions);
  for (size_t i = 0; i < results.size(); ++i)
    if (!forward[i]) forward[i] = ops::zeros_like(results[i]);
  return forward;
}

std::tuple<Value, Value, Value> jvp(Any fun, const Value& primals, const Value& tangents,
                                    bool has_aux) {
  lua_State* L = current();
  expect_callable(L, fun.index);
  Tensors at, along = tensors_in(tangents);
  for (const Tensor& primal : tensors_in(primals)) at.push_back(primal.alias());
  if (at.size() != along.size())
    fail("jvp: expected a tangent for each of the ", at.size(), " primals, got ", along.size());
  for (size_t i = 0; i < at.size(); ++i)
    if (!along[i].shape().compatible(at[i].shape()) || along[i].dtype() != at[i].dtype())
      fail("jvp: primal ", i + 1, " is ", at[i].spec(), ", its tangent ", along[i].spec());
  const Value given = with_tensors(primals, at);
  const List arguments = given.is_list() ? given.as_list() : List{given};
  GradientTape tape;
  for (const Tensor& primal : at) tape.watch(primal);
  reserve(L, static_cast<int>(arguments.size()) + 6);
  lua_pushvalue(L, fun.index);
  for (const Value& argument : arguments) push_value(L, argument);
  const List results = call_for_results(L, static_cast<int>(arguments.size()));
  tape.stop();
  if (results.size() != (has_aux ? 2 : 1))
    fail("jvp: expected the function to give ", has_aux ? "its result and more" : "one result",
         ", got ", results.size(), " values");
  const Tensors forward = directional_derivative(tape, tensors_in(results[0]), at, along);
  return {results[0], with_tensors(results[0], forward), has_aux ? results[1] : Value()};
}

}  // namespace

const std::vector<CallablePtr>& transform_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> all;
    all.push_back(
        bound("custom_gradient -> a function", &custom_gradient, {"f: a function"},
              "Wraps a function f(...) that returns its result and a function from the gradient of "
              "the result to the gradients of the arguments, which replaces the derivative."));
    all.push_back(bound(
        "jvp -> the result, its tangent, and what else the function gives", &jvp,
        {"fun: a function", "primals: a tensor or a structure of them",
         "tangents: a tensor or a structure of them", "has_aux=false"},
        "The value of a function at primals, and its derivative in the direction of tangents."));
    all.push_back(vectorize_function());
    return all;
  }();
  return functions;
}

}  // namespace crescent::lua
