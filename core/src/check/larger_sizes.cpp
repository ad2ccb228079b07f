// Checks of functions of tensors at sizes at which kernels use other code paths than for a few
// elements.
#include <algorithm>

#include "check/checked_layer.h"
#include "check/classes.h"
#include "crescent/program/program.h"
#include "layer/calls/outside_trace.h"

namespace crescent::check {
namespace {

constexpr double kValueTolerance = 1e-4, kGradientTolerance = 1e-3;

void expect_correct_gradient(const TensorFunction& f, const Tensors& inputs) {
  for (const CheckResult& result :
       check_gradient(f, inputs, {}, {.elements = 12, .directions = 0}).results)
    expect(result.outcome != CheckOutcome::failed, "of ", specs_text(inputs), " the gradient ",
           result.name, ": ", result.text);
}

bool have_gradients(const Tensors& results) {
  return is_finite(results) && std::any_of(results.begin(), results.end(),
                                           [](const Tensor& y) { return is_floating(y.dtype()); });
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::vector<std::string> texts;
  for (const Shape& shape : shapes) texts.push_back(to_text(shape));
  return join(texts);
}

void expect_as_in_float64(const TensorFunction& f, const Tensors& inputs, double tolerance,
                          std::string_view what) {
  const Tensors float32_inputs = with_float_dtype(inputs, DType::float32);
  const Tensors actual = f(float32_inputs);
  expect_near(actual, f(with_float_dtype(float32_inputs, DType::float64)), tolerance,
              concat("of ", specs_text(float32_inputs), what, ", float32 beside float64"));
  if (accepts([&](const Tensors& x) { return run_abstractly(f, x); }, float32_inputs))
    expect_near(Function(f)(float32_inputs), actual, tolerance,
                concat("of ", specs_text(float32_inputs), what, ", compiled beside op by op"));
}

}  // namespace

namespace {

/// For inputs in float64, expects a correct gradient. For the same inputs in float32, the dtype of
/// most kernels, expects nearly the same results and gradients, op by op and compiled. Returns a
/// description of the inputs.
std::string expect_correct(const TensorFunction& f, const Tensors& inputs, bool has_gradient) {
  expect_as_in_float64(f, inputs, kValueTolerance, "");
  if (!has_gradient || !have_gradients(f(inputs))) return specs_text(inputs);
  if (!accepts(with_gradients(f), inputs))
    return specs_text(inputs) + ", of which it refuses the gradient";
  expect_as_in_float64(with_gradients(f), inputs, kGradientTolerance, " with gradients");
  expect_correct_gradient(f, inputs);
  return specs_text(inputs);
}

}  // namespace

void add_larger_sizes(CheckReport& report, const CheckedClass& checked,
                      const LargerSizes& larger_sizes) {
  add_result(report, "larger sizes", [&] {
    std::vector<std::string> checked_inputs;
    for (const Shape& shape : larger_sizes.shapes) {
      const Tensors inputs = larger_sizes.inputs(shape);
      if (!accepts(larger_sizes.f, inputs) || !are_small(larger_sizes.f(inputs))) continue;
      checked_inputs.push_back(expect_correct(larger_sizes.f, inputs, larger_sizes.has_gradient));
      collect_applied_ops(*checked.collected_ops, larger_sizes.f,
                          with_float_dtype(inputs, DType::float32));
    }
    if (checked_inputs.empty())
      skip("arguments of shape ", shapes_text(larger_sizes.shapes),
           " are refused, or give more than ", kMaxElements, " elements");
    return join(checked_inputs, "; ") + ", and in float32";
  });
}

}  // namespace crescent::check
