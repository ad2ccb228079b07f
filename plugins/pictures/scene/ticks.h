// Ticks: round numbers along an axis.
#pragma once
#include <string>
#include <vector>

namespace crescent::pictures {

/// A non-empty interval of numbers. Its size may exceed the largest double.
struct Range {
  long double min = 0, max = 1;
  long double size() const { return max - min; }
  double share(long double value) const { return static_cast<double>((value - min) / size()); }
};

/// The double nearest to a number; the largest finite double for larger numbers.
double nearest_double(long double number);

struct Ticks {
  std::vector<long double> values;
  std::vector<std::string> texts;
};

/// At most `count` ticks in the range: multiples of 1, 2 or 5 times a power of ten (at least 1 if
/// `has_integers_only`); the ends of the range if it has no multiple.
Ticks ticks_in(const Range& range, int count, bool has_integers_only = false);

}  // namespace crescent::pictures
