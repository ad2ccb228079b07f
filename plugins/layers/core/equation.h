// The einsum equation of two operands in EinsumDense: "abc,cd->abd", "...c,cd->...d".
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// The axes of an operand: `all_letters` has a letter for each, and `letters_before_dots` is the
/// number of letters before "...".
struct Letters {
  explicit Letters(const std::string& text);
  bool has(char letter) const { return all_letters.find(letter) != std::string::npos; }
  /// The index of a letter's axis in a shape that includes the axes of "..."; letters after "..."
  /// are counted from the end.
  int axis(char letter) const {
    const size_t letter_index = all_letters.find(letter);
    return letter_index < letters_before_dots ? int(letter_index)
                                              : int(letter_index) - int(all_letters.size());
  }
  /// The number of axes of a shape for which "..." stands.
  int dot_axis_count(const Shape& shape) const { return shape.rank() - int(all_letters.size()); }

  std::string all_letters;
  size_t letters_before_dots;
  bool has_dots;
};

/// The three parts of an equation "input,kernel->output". "..." stands for any other axes of input
/// and output.
struct Equation {
  Letters input, kernel, output;
  /// Parses an equation such as "abc,cd->abd" or "...c,cd->...d"; fails for other forms.
  static Equation parse(std::string text);
};

}  // namespace crescent
