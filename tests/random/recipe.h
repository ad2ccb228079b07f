// Recipe: a random program as data. It can be run on tensors, at once or while a program is being
// recorded, and written in Lua.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent::random_programs {

/// The distribution of an input's numbers.
enum class Style : uint8_t {
  halves,  ///< multiples of 1/2 from -3 to 3, with many ties
  smooth,  ///< between -2 and 2, all different
  small,   ///< between -0.002 and 0.002; for integers, the range of int8
  mostly_zero,
};
inline constexpr int kStyles = 4;

/// The number of a value, a list of such numbers, or an option.
struct Argument {
  std::string name;
  std::variant<int, std::vector<int>, Value> value;
};

/// A value of a recipe: an input, or a result of a function of cr.ops.
struct Node {
  std::string function;  ///< empty: an input
  std::vector<Argument> arguments;
  size_t result = 0;  ///< the index of the result, for functions with several
  /// For "scan": computes the next carry (the last value) and, if `stacks`, an output of each step
  /// (the last but one) from values with their own numbering: carry, step input, captured ones.
  std::vector<Node> body;
  bool stacks = false;
  /// The value is not unique or not real; only the operations of its row, which make it unique, may
  /// read it.
  bool inner = false;

  TensorSpec spec{};  ///< of the value
  Style style{};      ///< of an input
  int phase = -1;     ///< phase of an input's values; its own number if negative
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

/// The numbers of an input: `index` distinguishes inputs, `run` runs.
Tensor draw_input(const Node& input, int index, int run);
/// The upstream gradient of an output.
Tensor draw_upstream(const TensorSpec& spec, int index);

/// Calls a function of cr.ops; returns all results.
Tensors call(const Node& node, const Tensors& values);

/// The outputs of the recipe, followed, if asked for, by the gradients of each floating input
/// (zeros if it has none). `inputs` are those of Recipe::inputs(), followed by upstream gradients
/// of the floating outputs.
Tensors run(const Recipe& recipe, const Tensors& inputs);
/// Inputs as run() takes them.
Tensors draw_inputs(const Recipe& recipe, int run);

/// A script that prints what the recipe computes compiled, eagerly and in float64, where they
/// differ.
std::string to_lua(const Recipe& recipe);

}  // namespace crescent::random_programs
