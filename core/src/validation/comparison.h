// Compares results with expected results within error bounds.
#pragma once
#include <optional>

#include "crescent/model/model.h"
#include "validation/rules/bounded.h"

namespace crescent::validation {

/// Compares and counts results.
class Comparison {
 public:
  explicit Comparison(Rounding rounding) : rounding_(rounding) {}

  /// Compares the elements and counts them for report(). Returns the element that exceeds its bound
  /// the most; only `element`, `got`, `expected` and `bound` of the finding are set.
  std::optional<Finding> operator()(const Bounded& actual, const Bounded& expected);
  /// Returns the same finding as operator(), but does not count the elements.
  std::optional<Finding> worst_finding(const Bounded& actual, const Bounded& expected) const;

  void report(Validation& validation_report) const;
  /// For each compared result that has a nonzero error, the largest ratio of an element's error to
  /// its bound.
  const std::vector<double>& ratios() const { return ratios_; }

 private:
  /// The allowed absolute difference between element `i` of both values.
  double allowed_difference(const Bounded& actual, const Bounded& expected, size_t i) const;

  Rounding rounding_;
  int64_t element_count_ = 0, undecided_count_ = 0;
  std::vector<double> ratios_;
};

}  // namespace crescent::validation
