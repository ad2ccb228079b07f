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

  /// Compares and counts the elements; returns the worst element that exceeds its bound as a
  /// finding without names.
  std::optional<Finding> operator()(const Bounded& got, const Bounded& expected);
  /// Does the same comparison without counting it.
  std::optional<Finding> worst_finding(const Bounded& got, const Bounded& expected) const;

  void report(Validation& to) const;
  /// The largest ratio of error to bound of each result with a nonzero error.
  const std::vector<double>& ratios() const { return ratios_; }

 private:
  /// The allowed absolute difference between element `i` of both values.
  double allowed_difference(const Bounded& got, const Bounded& expected, size_t i) const;

  Rounding rounding_;
  int64_t elements_ = 0, undecided_count_ = 0;
  std::vector<double> ratios_;
};

}  // namespace crescent::validation
