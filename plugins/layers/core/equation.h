// An einsum equation of two operands, as EinsumDense has it: "abc,cd->abd", "...c,cd->...d".
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// The letters of an operand, and how many of them are before its "...".
struct Letters {
  explicit Letters(const std::string& text);
  bool has(char letter) const { return all.find(letter) != std::string::npos; }
  /// The axis of a letter in a shape that has axes for "..." too; from the end behind it.
  int axis(char letter) const {
    const size_t at = all.find(letter);
    return at < before ? int(at) : int(at) - int(all.size());
  }
  /// Axes of such a shape that "..." stands for.
  int dots(const Shape& shape) const { return shape.rank() - int(all.size()); }

  std::string all;
  size_t before;
  bool has_dots;
};

/// Its three parts; "..." stands for further axes of input and output.
struct Equation {
  Letters input, kernel, output;
  /// Fails on anything else.
  static Equation parse(std::string text);
};

}  // namespace crescent
