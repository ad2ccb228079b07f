// Differences between results and expected values. Unlike std::max, these functions do not ignore
// NaN, and an infinite expected value does not make every relative difference 0.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

namespace crescent {

/// The absolute difference of two numbers: 0 if they are equal or both NaN; infinite if only one of
/// the two is NaN or infinite.
inline double absolute_difference(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  return std::isfinite(got) && std::isfinite(want) ? std::abs(got - want) : INFINITY;
}

/// The largest absolute difference of two sequences; infinite if their lengths differ.
template <class Got, class Want>
double farthest(const Got& got, const Want& want) {
  if (std::size(got) != std::size(want)) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < std::size(want); ++i)
    most = std::max(most, absolute_difference(got[i], want[i]));
  return most;
}

/// The largest finite magnitude of the values, at least `least`; differences are divided by it.
template <class Values>
double magnitude(const Values& values, double least) {
  double most = least;
  for (double value : values)
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace crescent
