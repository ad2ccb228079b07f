// Recipe: a random program as data. It can be run on tensors, eagerly or traced, and written as a
// Lua script.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent::random_programs {

/// The distribution of the values of an input.
enum class ValueDistribution : uint8_t {
  halves,  ///< multiples of 1/2 from -3 to 3, with many ties
  smooth,  ///< between -2 and 2, all different
  small,   ///< between -0.002 and 0.002; integers in the range of int8
  mostly_zero,
};
inline constexpr int kDistributions = 4;

/// An argument of a call: the index of a value, several indices, or an option.
struct Argument {
  std::string name;
  std::variant<int, std::vector<int>, Value> value;
};

/// A value of a random program: an input, or a result of a function of cr.ops.
struct Node {
  std::string function;  ///< name of a function of cr.ops; empty: an input
  std::vector<Argument> arguments;
  size_t result = 0;  ///< index of the result, for functions with several results
  /// The body of a "scan". Its values are numbered from 0: carry, step input, captured values,
  /// results. The last value is the next carry; if `stacks_outputs` is true, the value before it is
  /// an output of each step.
  std::vector<Node> body;
  bool stacks_outputs = false;
  /// True if the value is one of several correct results, or a complex number. Then only the
  /// generator of calls that adds it may use it, because this generator makes the result unique.
  bool is_internal = false;

  TensorSpec spec{};                 ///< spec of the value
  ValueDistribution distribution{};  ///< distribution of the values of an input
  int phase = -1;  ///< phase of an input's values; if negative, the index of the input is used
  bool is_variable = false;
};

struct Recipe {
  std::vector<Node> nodes;
  std::vector<int> outputs;
  /// Whether the gradients of the floating-point outputs with respect to the floating-point inputs
  /// are computed, too.
  bool has_gradients = false;

  std::vector<int> inputs() const;
  bool calls(std::string_view function) const;
};

/// The values of an input; they depend on the index of the input and the number of the run.
Tensor draw_input(const Node& input, int index, int run);
/// The upstream gradient of an output.
Tensor draw_upstream(const TensorSpec& spec, int index);

/// Calls a function of cr.ops; returns all of its results.
Tensors call(const Node& node, const Tensors& values);

/// Runs the program `recipe`. Returns its outputs and, if requested, the gradient of each
/// floating-point input (zeros if there is none). `inputs` are the program's inputs, followed by
/// the upstream gradients of the floating-point outputs.
Tensors run(const Recipe& recipe, const Tensors& inputs);
/// Draws the inputs that the function run() takes.
Tensors draw_inputs(const Recipe& recipe, int run);

/// A Lua script that runs the program compiled, eagerly and in float64, and prints the results that
/// differ.
std::string to_lua(const Recipe& recipe);

}  // namespace crescent::random_programs
