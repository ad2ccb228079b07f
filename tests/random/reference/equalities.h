// Comparisons of numbers for equality, in which rounding decides whether two numbers are equal.
#pragma once
#include <cstddef>
#include <vector>

namespace crescent::random_programs {

/// Compares the results of equality comparisons in the repetitions with those in the exact
/// interpretation. If rounding decides many elements of one comparison, the spread of the results
/// is too small. For example, the gradient of a minimum goes to one of many nearly equal numbers;
/// the repetitions do not choose each of these numbers.
class Equalities {
 public:
  /// Begins an interpretation of the program. The first interpretation is the exact one.
  void begin() { next_comparison_ = 0; }
  /// Takes the next comparison of the interpretation: for each element, whether the numbers are
  /// equal.
  void add(std::vector<bool> are_equal);
  /// The number of elements for which rounding decides whether they are equal, in the comparison
  /// with the most such elements.
  size_t most_by_rounding() const;

 private:
  struct Comparison {
    std::vector<bool> exact, differs_by_rounding;
  };
  std::vector<Comparison> comparisons_;
  size_t next_comparison_ = 0;
};

}  // namespace crescent::random_programs
