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
enum class Style : uint8_t {
  halves,  ///< multiples of 1/2 from -3 to 3, with many ties
  smooth,  ///< between -2 and 2, all different
  small,   ///< between -0.002 and 0.002; integers in the range of int8
  mostly_zero,
};
inline constexpr int kStyles = 4;

/// An argument of a call: the index of a value, several indices, or an option.
struct Argument {
  std::string name;
  std::variant<int, std::vector<int>, Value> value;
};

/// A value of a recipe: an input, or a result of a function of cr.ops.
struct Node {
  std::string function;  ///< empty: an input
  std::vector<Argument> arguments;
  size_t result = 0;  ///< index of the result, for functions with several
  /// The body of a "scan". Its values are numbered from 0: carry, step input, captured values,
  /// results. The last value is the next carry; if `stacks`, the last but one is an output of each
  /// step.
  std::vector<Node> body;
  bool stacks = false;
  /// The value is one of several correct results, or a complex number: only the row that adds it,
  /// which makes it unique again, may use it.
  bool inner = false;

  TensorSpec spec{};  ///< spec of the value
  Style style{};      ///< distribution of the values of an input
  int phase = -1;     ///< phase of an input's values; the index of the input if negative
  bool variable = false;
};

struct Recipe {
  std::vector<Node> nodes;
  std::vector<int> outputs;
  /// whether to also compute the gradients of the floating outputs with respect to the floating
  /// inputs
  bool gradients = false;

  std::vector<int> inputs() const;
  bool calls(std::string_view function) const;
};

/// The values of an input, by the index of the input and the index of the run.
Tensor draw_input(const Node& input, int index, int run);
/// The upstream gradient of an output.
Tensor draw_upstream(const TensorSpec& spec, int index);

/// Calls a function of cr.ops; returns all of its results.
Tensors call(const Node& node, const Tensors& values);

/// The outputs of the recipe, then, if requested, the gradient of each floating input, which is
/// zeros if there is none. `inputs` are those of Recipe::inputs(), then the upstream gradients of
/// the floating outputs.
Tensors run(const Recipe& recipe, const Tensors& inputs);
/// Draws inputs for run().
Tensors draw_inputs(const Recipe& recipe, int run);

/// A Lua script that prints the results of the recipe compiled, eagerly and in float64 where they
/// differ.
std::string to_lua(const Recipe& recipe);

}  // namespace crescent::random_programs
