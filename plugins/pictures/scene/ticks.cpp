#include "scene/ticks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace crescent::pictures {
namespace {

// The fraction of a step by which a tick may be outside of the range, because of rounding.
constexpr long double kRoundingTolerance = 1e-9L;

/// The smallest step, among 1, 2 and 5 times powers of ten, that has at most `count` multiples in
/// the range.
long double step_for(const Range& range, int count) {
  long double power =
      std::pow(10.0L, std::floor(std::log10(range.size() / std::max(count, 1))) - 1);
  for (;; power *= 10)
    for (const long double factor : {1.0L, 2.0L, 5.0L}) {
      const long double step = factor * power;
      const long double multiple_count = std::floor(range.max / step + kRoundingTolerance) -
                                         std::ceil(range.min / step - kRoundingTolerance) + 1;
      if (multiple_count <= std::max(count, 1)) return step;
    }
}

/// The number of decimals that is needed to distinguish multiples of the step.
int digits_for(long double step) {
  return std::max(0, static_cast<int>(-std::floor(std::log10(step) + kRoundingTolerance)));
}

std::string format_with_digits(long double value, const char* format, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, format, digits, value == 0 ? 0.0L : value);
  return text;
}

/// Removes leading zeros of the exponent: "1e-05" becomes "1e-5".
std::string short_exponent(std::string text) {
  const size_t exponent_position = text.find('e');
  if (exponent_position == text.npos) return text;
  size_t first_digit = exponent_position + 2;
  while (first_digit + 1 < text.size() && text[first_digit] == '0') text.erase(first_digit, 1);
  if (text[exponent_position + 1] == '+') text.erase(exponent_position + 1, 1);
  return text;
}

/// The label of a tick, with the digits that the step needs; very small and very large numbers have
/// an exponent.
std::string tick_text(long double value, long double step, long double largest_magnitude) {
  const bool has_no_exponent = largest_magnitude < 1e6L && step >= 1e-4L;
  if (has_no_exponent) return format_with_digits(value, "%.*Lf", digits_for(step));
  if (value == 0) return "0";
  const long double digits = std::floor(std::log10(std::abs(value)) + kRoundingTolerance) -
                             std::floor(std::log10(step) + kRoundingTolerance);
  return short_exponent(
      format_with_digits(value, "%.*Le", std::clamp(static_cast<int>(digits), 0, 15)));
}

void add_tick(Ticks& ticks, long double value, long double step, long double largest_magnitude) {
  ticks.values.push_back(value);
  ticks.texts.push_back(tick_text(value, step, largest_magnitude));
}

}  // namespace

double nearest_double(long double number) {
  constexpr long double max = std::numeric_limits<double>::max();
  return static_cast<double>(std::clamp(number, -max, max));
}

Ticks ticks_in(const Range& range, int count, bool has_integers_only) {
  const long double step = std::max(step_for(range, count), has_integers_only ? 1.0L : 0.0L);
  const long double largest_magnitude = std::max(std::abs(range.min), std::abs(range.max));
  Ticks ticks;
  for (long double i = std::ceil(range.min / step - kRoundingTolerance);
       i * step <= range.max + kRoundingTolerance * step; ++i)
    add_tick(ticks, i * step, step, largest_magnitude);
  if (ticks.values.empty())
    for (const long double end : {range.min, range.max})
      add_tick(ticks, end, range.size(), largest_magnitude);
  return ticks;
}

}  // namespace crescent::pictures
