#include "validation/comparison.h"

#include <algorithm>
#include <cmath>

namespace crescent::validation {

double Comparison::allowed(const Bounded& got, const Bounded& expected, size_t i) const {
  // If both values were evaluated in float64, each of them has rounding errors of its own.
  const double own = rounding_ == Rounding::float64 ? got.error(i) : 0;
  const double twice = expected.spec.dtype == DType::float64 ? 2 : 1;
  return twice * expected.error(i) + own;
}

std::optional<Finding> Comparison::worst(const Bounded& got, const Bounded& expected) const {
  std::optional<Finding> finding;
  double most = 0;
  if (!got.is_real() && !got.is_whole()) return finding;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double bound = allowed(got, expected, i);
    if (is_undecided(bound)) continue;
    const double x = got.number(i), y = expected.number(i);
    const bool same = got.is_whole() ? got.whole[i] == expected.whole[i]
                                     : std::abs(x - y) <= bound || (std::isnan(x) && std::isnan(y));
    if (same) continue;
    const double ratio =
        std::isfinite(x) ? std::abs(x - y) / (bound + std::abs(y) * 1e-30 + 1e-300) : INFINITY;
    if (finding && ratio <= most) continue;
    most = ratio;
    finding.emplace();
    finding->got = x, finding->expected = y, finding->bound = bound;
    finding->element = {static_cast<int64_t>(i)};
  }
  if (!finding) return finding;
  int64_t rest = finding->element[0];
  const Shape& shape = expected.spec.shape;
  finding->element.assign(shape.rank(), 0);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    finding->element[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  return finding;
}

std::optional<Finding> Comparison::operator()(const Bounded& got, const Bounded& expected) {
  double most = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double bound = allowed(got, expected, i);
    ++elements_;
    if (is_undecided(bound))
      ++undecided_;
    else if (bound > 0 && got.is_real())
      most = std::max(most, std::abs(got.real[i] - expected.real[i]) / bound);
  }
  if (most > 0) ratios_.push_back(most);
  return worst(got, expected);
}

void Comparison::report(Validation& to) const {
  to.elements += elements_, to.undecided += undecided_;
}

}  // namespace crescent::validation
