// Round numbers along an axis.
#pragma once
#include <string>
#include <vector>

namespace crescent::pictures {

/// An interval of numbers, which is not empty. Its size may exceed the greatest double.
struct Range {
  long double least = 0, most = 1;
  long double size() const { return most - least; }
  double share(long double value) const { return static_cast<double>((value - least) / size()); }
};

/// The greatest double where the number is above it.
double nearest_double(long double number);

struct Ticks {
  std::vector<long double> values;
  std::vector<std::string> texts;
};

/// At most `count` multiples of 1, 2 or 5 times a power of ten within the range, and of 1 at least
/// with `whole`; without any such number it is the ends of the range.
Ticks ticks_in(const Range& range, int count, bool whole = false);

}  // namespace crescent::pictures
