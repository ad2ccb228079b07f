// GradientTape and gradients in Lua.
#include "tensors/gradient.h"

#include "crescent/program/gradient.h"
#include "tensors/compiled.h"
#include "tensors/tensors.h"

namespace crescent::lua {
namespace {

/// A gradient tape that has stopped recording.
class Tape final : public Object {
 public:
  explicit Tape(GradientTape tape) : tape(std::move(tape)) {}
  std::string class_name() const override { return "GradientTape"; }
  GradientTape tape;
};

/// Pushes the gradients as a list. Where the target does not depend on a source the list contains
/// false, because nil would leave a hole.
void push_gradients(lua_State* L, const Tensors& gradients) {
  lua_createtable(L, static_cast<int>(gradients.size()), 0);
  lua_Integer i = 0;
  for (const Tensor& gradient : gradients) {
    gradient ? push_handle(L, gradient) : lua_pushboolean(L, false);
    lua_rawseti(L, -2, ++i);
  }
}

/// The sources of a gradient, that is, what the target is differentiated with respect to: variables
/// or watched tensors, given as one value or a table.
struct Sources {
  bool is_table = false;
  Tensors tensors;
  Variables variables;
  size_t size() const { return variables.empty() ? tensors.size() : variables.size(); }
  const Shape& shape(size_t i) const {
    return variables.empty() ? tensors[i].shape() : variables[i].shape();
  }
};

/// Warns of a source of integers, which has no gradient.
void warn_of_integers(DType dtype) {
  if (is_integer(dtype))
    warn("gradient: a source is ", dtype, ", and integers have no gradient; variables of numbers ",
         "with a fraction do, as cr.Variable(2.0)");
}

Sources sources_at(lua_State* L, int index) {
  Sources sources;
  sources.is_table = is_plain_table(L, index);
  const auto count = sources.is_table ? static_cast<lua_Integer>(lua_rawlen(L, index)) : 1;
  for (lua_Integer i = 1; i <= count; ++i) {
    sources.is_table ? static_cast<void>(lua_rawgeti(L, index, i)) : lua_pushvalue(L, index);
    if (auto* variable = to_handle<Variable>(L, -1))
      sources.variables.push_back(*variable);
    else
      sources.tensors.push_back(to_tensor(L, -1));
    lua_pop(L, 1);
  }
  if (!sources.variables.empty() && !sources.tensors.empty())
    fail("gradient: expected variables or watched tensors, got both");
  for (const Tensor& tensor : sources.tensors) warn_of_integers(tensor.dtype());
  for (const Variable& variable : sources.variables) warn_of_integers(variable.dtype());
  return sources;
}

Tensors gradients_of(Tape& tape, const Tensor& target, const Sources& sources,
                     const Tensor& upstream) {
  return sources.variables.empty()
             ? tape.tape.gradient(target, std::span<const Tensor>(sources.tensors), upstream)
             : tape.tape.gradient(target, std::span<const Variable>(sources.variables), upstream);
}

OnStack push_as_sources(lua_State* L, const Sources& sources, const Tensors& gradients) {
  if (sources.is_table)
    push_gradients(L, gradients);
  else if (gradients.at(0))
    push(L, gradients[0]);
  else
    lua_pushboolean(L, false);
  return {};
}

/// The gradients of the sum of several targets.
Tensors gradients_of_table(lua_State* L, Tape& tape, int targets_index, const Sources& sources,
                           const Tensor& upstream) {
  if (upstream) fail("gradient: output_gradients are for one target, got a table of them");
  Tensors total_gradients(sources.size());
  for (const Tensor& target : to_tensors(L, targets_index)) {
    const Tensors gradients = gradients_of(tape, target, sources, {});
    for (size_t k = 0; k < total_gradients.size(); ++k)
      if (gradients[k])
        total_gradients[k] = total_gradients[k] ? total_gradients[k] + gradients[k] : gradients[k];
  }
  return total_gradients;
}

OnStack gradient(Tape& tape, Any target, Any sources, const Tensor& upstream) {
  lua_State* L = current();
  const Sources source_values = sources_at(L, sources.index);
  return push_as_sources(
      L, source_values,
      is_plain_table(L, target.index)
          ? gradients_of_table(L, tape, target.index, source_values, upstream)
          : gradients_of(tape, to_tensor(L, target.index), source_values, upstream));
}

/// Computes `count` gradients, one after the other, and stacks them along the axis `axis`.
/// `upstream(i)` is the output gradient for gradient number i: it selects an element (or one
/// element of each row) of the target.
template <class Upstream>
Tensors gradients_of_parts(Tape& tape, const Tensor& target, const Sources& sources, int64_t count,
                           int axis, Upstream upstream) {
  std::vector<Tensors> parts(sources.size());
  for (int64_t i = 0; i < count; ++i) {
    const Tensors gradients = gradients_of(tape, target, sources, upstream(i));
    for (size_t k = 0; k < parts.size(); ++k)
      if (gradients[k]) parts[k].push_back(gradients[k]);
  }
  Tensors result(parts.size());
  for (size_t k = 0; k < parts.size(); ++k)
    if (!parts[k].empty()) result[k] = ops::stack(parts[k], axis);
  return result;
}

void expect_known_shape(const char* name, const Tensor& target) {
  if (!target.shape().is_known())
    fail(name, ": the size of every axis of the target must be known, got shape ", target.shape());
}

/// The gradient of each element of the target.
OnStack jacobian(Tape& tape, const Tensor& target, Any sources) {
  expect_known_shape("jacobian", target);
  const Sources source_values = sources_at(current(), sources.index);
  const int64_t count = target.size();
  const auto unit_gradient = [&](int64_t i) {
    return ops::reshape(
        ops::one_hot(Tensor::scalar(static_cast<double>(i), DType::int32), count, target.dtype()),
        target.shape());
  };
  Tensors jacobians = gradients_of_parts(tape, target, source_values, count, 0, unit_gradient);
  for (size_t k = 0; k < jacobians.size(); ++k) {
    const Shape shape = target.shape().concat(source_values.shape(k));
    if (jacobians[k]) jacobians[k] = ops::reshape(jacobians[k], shape);
    if (count == 0) jacobians[k] = ops::zeros(shape, target.dtype());
  }
  return push_as_sources(current(), source_values, jacobians);
}

/// For each row, the gradients of every element of the target's row with respect to the same row of
/// the source.
OnStack batch_jacobian(Tape& tape, const Tensor& target, Any source) {
  expect_known_shape("batch_jacobian", target);
  const Sources source_values = sources_at(current(), source.index);
  if (source_values.size() != 1)
    fail("batch_jacobian: expected one source, got ", source_values.size());
  const Shape &target_shape = target.shape(), &source_shape = source_values.shape(0);
  if (target_shape.rank() == 0 || source_shape.rank() == 0 || target_shape[0] != source_shape[0])
    fail("batch_jacobian: expected a target and a source with as many rows, got shapes ",
         target_shape, " and ", source_shape);
  const Shape row_shape = target_shape.slice(1, target_shape.rank());
  const auto unit_gradient = [&](int64_t i) {
    const Tensor row = ops::one_hot(Tensor::scalar(static_cast<double>(i), DType::int32),
                                    row_shape.size(), target.dtype());
    return ops::broadcast_to(ops::reshape(row, row_shape), target_shape);
  };
  Tensors jacobians =
      gradients_of_parts(tape, target, source_values, row_shape.size(), 1, unit_gradient);
  const Shape shape = target_shape.concat(source_shape.slice(1, source_shape.rank()));
  if (jacobians[0]) jacobians[0] = ops::reshape(jacobians[0], shape);
  if (row_shape.size() == 0) jacobians[0] = ops::zeros(shape, target.dtype());
  return push_as_sources(current(), source_values, jacobians);
}

/// Implements GradientTape(function(tape) ... end, watched tensors...): records the operations that
/// the function runs.
std::shared_ptr<Tape> record(Any function, const Tensors& watched) {
  lua_State* L = current();
  if (!lua_isfunction(L, function.index)) fail_expected(L, function.index, "a function");
  auto tape = std::make_shared<Tape>(GradientTape());
  for (const Tensor& tensor : watched) tape->tape.watch(tensor);
  StackRestorer restorer(L);
  lua_pushvalue(L, function.index);
  push_object(L, tape);
  try {
    protected_call(L, 1, 0);
  } catch (...) {
    tape->tape.stop();
    throw;
  }
  tape->tape.stop();
  return tape;
}

}  // namespace

void add_gradient_types(ObjectTypes& types, const HandleType& object) {
  add_type<Tape>(types, "tape", &object)
      .method("gradient -> a structure of tensors", &gradient,
              {"target: a tensor or a structure of them",
               "sources: a tensor or a structure of them", "output_gradients=nil"},
              "The derivative of the target, or of the sum of a list of targets, with respect to "
              "each source; false for sources on which it does not depend.")
      .method("jacobian -> a structure of tensors", &jacobian,
              {"target", "sources: a tensor or a structure of them"},
              "The derivatives of all elements of the target; the shape is that of the target "
              "followed by that of the source.")
      .method("batch_jacobian -> a tensor", &batch_jacobian, {"target", "source: a tensor"},
              "The Jacobian of each row of the target with respect to the corresponding row of the "
              "source.")
      .method(
          "watch", [](Tape& tape, const Tensor& tensor) { tape.tape.watch(tensor); }, {"tensor"},
          "Records what depends on this tensor; variables are watched automatically.");
  add_compiled_type(types, object);
}

const std::vector<CallablePtr>& gradient_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    callables.push_back(
        bound("GradientTape -> a tape", &record, {"function: a function", "watch=nil"},
              "Runs the function while recording its operations; returns the tape, whose "
              "gradient() differentiates them."));
    callables.push_back(compiled_function());
    return callables;
  }();
  return functions;
}

}  // namespace crescent::lua
