// Options that give the range from which a random number is drawn: one number, or two.
#pragma once
#include <algorithm>
#include <cmath>

#include "crescent/layer/layer.h"

namespace crescent {

struct Range {
  double low = 0, high = 0;
  Tensor draw(const SeedGenerator& random, const Shape& shape, DType dtype,
              double factor = 1) const {
    return random.uniform(shape, low * factor, high * factor, dtype);
  }
};

/// The limits for the range that an option gives.
struct Bounds {
  double low = -1, high = 1;
  bool is_low_excluded = false;  ///< whether the lower bound is excluded
};

namespace detail {

[[noreturn]] inline void fail_range(const char* option, const Value& value, const Bounds& bounds) {
  fail("The `", option, "` argument should be a number (or a list of two numbers) in the range ",
       bounds.is_low_excluded ? "(" : "[", bounds.low, ", ", bounds.high, "]. Received: ", option,
       "=", value);
}

}  // namespace detail

/// The range that an option gives. A number f within the bounds means the range from -f to f,
/// limited to the bounds. Of two numbers the first must be at most the upper bound, and the second
/// at least the lower bound.
inline Range range_of(const char* option, const Value& value, const Bounds& bounds) {
  if (value.is_number()) {
    const double f = value.as_float();
    if (!(f >= bounds.low && f <= bounds.high)) detail::fail_range(option, value, bounds);
    return {std::max(-std::abs(f), bounds.low), std::abs(f)};
  }
  if (!value.is_list() || value.as_list().size() != 2 || !value.as_list()[0].is_number() ||
      !value.as_list()[1].is_number())
    detail::fail_range(option, value, bounds);
  const double a = value.as_list()[0].as_float(), b = value.as_list()[1].as_float();
  if (!(a <= bounds.high && b >= bounds.low)) detail::fail_range(option, value, bounds);
  return {std::min(a, b), std::max(a, b)};
}

/// The range that an option gives, like range_of(), but both of two numbers must be within the
/// bounds.
inline Range range_within(const char* option, const Value& value, const Bounds& bounds) {
  for (const Value& number : value.is_list() ? value.as_list() : List{value})
    if (!number.is_number() || !(number.as_float() <= bounds.high) ||
        !(bounds.is_low_excluded ? number.as_float() > bounds.low
                                 : number.as_float() >= bounds.low))
      detail::fail_range(option, value, bounds);
  return range_of(option, value, bounds);
}

}  // namespace crescent
