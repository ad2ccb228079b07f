#include "validation/comparison.h"

#include <algorithm>
#include <cmath>

namespace crescent::validation {

double Comparison::allowed_difference(const Bounded& actual, const Bounded& expected,
                                      size_t i) const {
  // If both values were evaluated in float64, each of them has rounding errors of its own. If their
  // dtype is float64, the expected value, which is evaluated in float64 too, has errors as large as
  // those of the actual value.
  const double own_error = rounding_ == Rounding::float64 ? actual.error(i) : 0;
  const double error_factor = expected.spec.dtype == DType::float64 ? 2 : 1;
  return error_factor * expected.error(i) + own_error;
}

std::optional<Finding> Comparison::worst_finding(const Bounded& actual,
                                                 const Bounded& expected) const {
  std::optional<Finding> finding;
  double largest_ratio = 0;
  if (!actual.is_real() && !actual.is_whole()) return finding;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double bound = allowed_difference(actual, expected, i);
    if (is_undecided(bound)) continue;
    const double x = actual.number(i), y = expected.number(i);
    const bool is_equal = actual.is_whole()
                              ? actual.whole[i] == expected.whole[i]
                              : std::abs(x - y) <= bound || (std::isnan(x) && std::isnan(y));
    if (is_equal) continue;
    const double ratio =
        std::isfinite(x) ? std::abs(x - y) / (bound + std::abs(y) * 1e-30 + 1e-300) : INFINITY;
    if (finding && ratio <= largest_ratio) continue;
    largest_ratio = ratio;
    finding.emplace();
    finding->got = x, finding->expected = y, finding->bound = bound;
    finding->element = {static_cast<int64_t>(i)};
  }
  if (!finding) return finding;
  int64_t remaining_index = finding->element[0];
  const Shape& shape = expected.spec.shape;
  finding->element.assign(shape.rank(), 0);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    finding->element[axis] = remaining_index % shape[axis];
    remaining_index /= shape[axis];
  }
  return finding;
}

std::optional<Finding> Comparison::operator()(const Bounded& actual, const Bounded& expected) {
  double largest_ratio = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double bound = allowed_difference(actual, expected, i);
    ++element_count_;
    if (is_undecided(bound))
      ++undecided_count_;
    else if (bound > 0 && actual.is_real())
      largest_ratio = std::max(largest_ratio, std::abs(actual.real[i] - expected.real[i]) / bound);
  }
  if (largest_ratio > 0) ratios_.push_back(largest_ratio);
  return worst_finding(actual, expected);
}

void Comparison::report(Validation& validation_report) const {
  validation_report.elements += element_count_, validation_report.undecided += undecided_count_;
}

}  // namespace crescent::validation
