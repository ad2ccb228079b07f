#include "random/recipe.h"

#include <cmath>

#include "crescent/layer/operation.h"
#include "crescent/program/gradient.h"
#include "crescent/program/program.h"

namespace crescent::random_programs {
namespace {

/// Computes the same numbers as values() in the generated scripts.
double number(ValueDistribution distribution, int64_t i, double phase) {
  const double sine = std::sin(static_cast<double>(i + 1) * 12.9898 + phase);
  switch (distribution) {
    case ValueDistribution::halves:
      return std::floor(sine * 6.5) / 2;
    case ValueDistribution::smooth:
      return sine * 2;
    case ValueDistribution::small:
      return sine * 0.002;
    case ValueDistribution::mostly_zero:
      break;
  }
  return sine > 0.6 ? sine * 2 : 0;
}

Tensor draw(const TensorSpec& spec, ValueDistribution distribution, double phase) {
  std::vector<double> values(static_cast<size_t>(spec.shape.size()));
  const bool is_integer = !is_floating(spec.dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    double x = number(distribution, static_cast<int64_t>(i), phase);
    if (is_integer) x = std::floor(distribution == ValueDistribution::small ? x * 63'000 : x * 2);
    if (spec.dtype == DType::uint8) x = std::abs(x);
    if (spec.dtype == DType::boolean) x = x > 0;
    values[i] = x;
  }
  return ops::cast(Tensor::from(values, spec.shape), spec.dtype);
}

Value boxed(const Tensor& x) { return Codec<Tensor>::encode(x); }

Value argument_value(const Argument& argument, const Tensors& values) {
  if (const auto* single_value = std::get_if<int>(&argument.value))
    return boxed(values[static_cast<size_t>(*single_value)]);
  if (const auto* value_list = std::get_if<std::vector<int>>(&argument.value)) {
    List list;
    for (int value : *value_list) list.push_back(boxed(values[static_cast<size_t>(value)]));
    return list;
  }
  return std::get<Value>(argument.value);
}

/// Collects all tensors in the result of an operation.
void collect_tensors(const Value& value, Tensors& results) {
  if (value.is_list()) {
    for (const Value& item : value.as_list()) collect_tensors(item, results);
  } else {
    results.push_back(Codec<Tensor>::decode(value));
  }
}

Tensors scan(const Node& node, const Tensors& values) {
  const auto argument = [&](size_t i) {
    return values[static_cast<size_t>(std::get<int>(node.arguments[i].value))];
  };
  const bool reverse =
      node.arguments.size() > 2 + 1 && std::get<Value>(node.arguments.back().value) == Value(true);
  Tensors captured;
  for (int value : std::get<std::vector<int>>(node.arguments[2].value))
    captured.push_back(values[static_cast<size_t>(value)]);
  const auto body = [&](const Tensors& states, const Tensors& step) -> ops::ScanResult {
    Tensors body_values{states[0], step[0]};
    body_values.insert(body_values.end(), captured.begin(), captured.end());
    for (const Node& body_node : node.body)
      body_values.push_back(call(body_node, body_values).at(body_node.result));
    Tensors outputs;
    if (node.stacks_outputs) outputs.push_back(body_values[body_values.size() - 2]);
    return {{body_values.back()}, outputs};
  };
  const ops::ScanResult result = ops::scan(body, {argument(0)}, {argument(1)}, reverse);
  Tensors results{result.states[0]};
  if (node.stacks_outputs) results.push_back(result.outputs[0]);
  return results;
}

}  // namespace

std::vector<int> Recipe::inputs() const {
  std::vector<int> input_indices;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].function.empty()) input_indices.push_back(static_cast<int>(i));
  return input_indices;
}

bool Recipe::calls(std::string_view function) const {
  for (const Node& node : nodes)
    if (node.function == function) return true;
  return false;
}

Tensor draw_input(const Node& input, int index, int run) {
  return draw(input.spec, input.distribution, index + 0.1 * run);
}

Tensor draw_upstream(const TensorSpec& spec, int index) {
  return draw(spec, ValueDistribution::smooth, 100 + index);
}

Tensors call(const Node& node, const Tensors& values) {
  if (node.function == "scan") return scan(node, values);
  Dict arguments;
  for (const Argument& argument : node.arguments)
    arguments.set(argument.name, argument_value(argument, values));
  const auto operation = get<Operation>(Value(node.function));
  Tensors results;
  collect_tensors((*operation)(arguments), results);
  return results;
}

Tensors run(const Recipe& recipe, const Tensors& inputs) {
  GradientTape tape;
  Tensors values, watched_inputs;
  size_t next_input = 0;
  for (const Node& node : recipe.nodes) {
    if (!node.function.empty()) {
      values.push_back(call(node, values).at(node.result));
      continue;
    }
    values.push_back(inputs[next_input++]);
    if (recipe.has_gradients && is_floating(node.spec.dtype)) {
      tape.watch(values.back());
      watched_inputs.push_back(values.back());
    }
  }
  Tensors outputs, targets, upstreams;
  for (int output : recipe.outputs) {
    const Tensor& value = values[static_cast<size_t>(output)];
    outputs.push_back(value);
    if (!recipe.has_gradients || !is_floating(value.dtype())) continue;
    targets.push_back(value), upstreams.push_back(inputs[next_input++]);
  }
  if (targets.empty() || watched_inputs.empty()) return outputs;
  const Tensors gradients = tape.gradient(targets, watched_inputs, upstreams);
  for (size_t i = 0; i < watched_inputs.size(); ++i)
    outputs.push_back(gradients[i] ? gradients[i] : ops::zeros_like(watched_inputs[i]));
  return outputs;
}

Tensors draw_inputs(const Recipe& recipe, int run) {
  Tensors inputs;
  for (int i : recipe.inputs())
    inputs.push_back(draw_input(recipe.nodes[static_cast<size_t>(i)], i, run));
  if (!recipe.has_gradients) return inputs;
  for (size_t i = 0; i < recipe.outputs.size(); ++i) {
    const TensorSpec& spec = recipe.nodes[static_cast<size_t>(recipe.outputs[i])].spec;
    if (is_floating(spec.dtype)) inputs.push_back(draw_upstream(spec, static_cast<int>(i)));
  }
  return inputs;
}

}  // namespace crescent::random_programs
