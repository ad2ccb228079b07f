// Recipe: a random program as data. It can run on tensors, eagerly or while a program is being
// recorded, and be written as a Lua script.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent::random_programs {

/// How the numbers of an input are distributed.
enum class Style : uint8_t {
  halves,  ///< multiples of 1/2 from -3 to 3, with many ties
  smooth,  ///< between -2 and 2, all different
  small,   ///< between -0.002 and 0.002; integers as far as those of 8 bits go
  mostly_zero,
};
inline constexpr int kStyles = 4;

/// An argument of a call: the number of a value, several of them, or an option.
struct Argument {
  std::string name;
  std::variant<int, std::vector<int>, Value> value;
};

/// A value of a recipe: an input, or a result of a function of cr.ops.
struct Node {
  std::string function;  ///< empty: an input
  std::vector<Argument> arguments;
  size_t result = 0;  ///< of several, which
  /// Of "scan": makes the next carry (the last value) and, if `stacks`, an output of each step (the
  /// last but one) from values that are numbered afresh: carry, step input, captured ones.
  std::vector<Node> body;
  bool stacks = false;
  /// Whether the value is one of several correct ones, or not a real number: only the steps that
  /// make it a result may use it.
  bool inner = false;

  TensorSpec spec{};  ///< of the value
  Style style{};      ///< of an input
  int phase = -1;     ///< of an input's values; its own number if negative
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

/// The numbers of an input: `index` tells inputs apart, `run` the runs.
Tensor draw_input(const Node& input, int index, int run);
/// The upstream gradient of an output.
Tensor draw_upstream(const TensorSpec& spec, int index);

/// Calls a function of cr.ops and returns all of its results.
Tensors call(const Node& node, const Tensors& values);

/// The outputs of the recipe and, if asked for, the gradients with respect to each floating input
/// (zeros if there is none). `inputs` are those of Recipe::inputs(), followed by the upstream
/// gradients of the floating outputs.
Tensors run(const Recipe& recipe, const Tensors& inputs);
/// The inputs that run() takes.
Tensors draw_inputs(const Recipe& recipe, int run);

/// A script that computes the recipe compiled, eagerly and in float64, and prints where they
/// differ.
std::string to_lua(const Recipe& recipe);

}  // namespace crescent::random_programs
