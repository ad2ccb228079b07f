// Distances between computed and expected numbers. std::max and comparisons lose NaN, and an
// infinite bound accepts everything; these functions handle both.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

namespace crescent {

/// 0 for equal numbers and for two NaN; infinite if only one of them is NaN or infinite.
inline double absolute_difference(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  return std::isfinite(got) && std::isfinite(want) ? std::abs(got - want) : INFINITY;
}

/// The largest distance of corresponding numbers; infinite if the counts differ.
template <class Got, class Want>
double farthest(const Got& got, const Want& want) {
  if (std::size(got) != std::size(want)) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < std::size(want); ++i)
    most = std::max(most, absolute_difference(got[i], want[i]));
  return most;
}

/// The largest finite magnitude, at least `least`; differences are relative to it.
template <class Values>
double magnitude(const Values& values, double least) {
  double most = least;
  for (double value : values)
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace crescent
