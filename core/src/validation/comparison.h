// Compares values with what is expected of them.
#pragma once
#include <optional>

#include "crescent/model/model.h"
#include "validation/rules/bounded.h"

namespace crescent::validation {

/// Counts what was compared.
class Comparison {
 public:
  explicit Comparison(Rounding rounding) : rounding_(rounding) {}

  /// The worst element beyond the bound, as a finding that says nothing else yet.
  std::optional<Finding> operator()(const Bounded& got, const Bounded& expected);
  /// The same without counting.
  std::optional<Finding> worst(const Bounded& got, const Bounded& expected) const;

  void report(Validation& to) const;
  /// The largest part of its bound that a result was off by, of each that was off.
  const std::vector<double>& ratios() const { return ratios_; }

 private:
  /// The error that is allowed.
  double allowed(const Bounded& got, const Bounded& expected, size_t i) const;

  Rounding rounding_;
  int64_t elements_ = 0, undecided_ = 0;
  std::vector<double> ratios_;
};

}  // namespace crescent::validation
