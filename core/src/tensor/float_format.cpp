#include "tensor/float_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace crescent {
namespace {

std::string printf_text(const char* format, int digits, double x) {
  char text[512];  // has room for the largest float64 without an exponent
  std::snprintf(text, sizeof text, format, digits, x);
  return text;
}

/// The nearest number that the dtype can represent.
double rounded_to_dtype(double x, DType dtype) {
  switch (dtype) {
    case DType::float16:
      return static_cast<double>(float16_to_float(float_to_float16(static_cast<float>(x))));
    case DType::bfloat16:
      return static_cast<double>(bfloat16_to_float(float_to_bfloat16(static_cast<float>(x))));
    case DType::float32:
      return static_cast<double>(static_cast<float>(x));
    default:
      return x;
  }
}

/// The length of a number in scientific notation, such as 1.25e+03: the number of digits after the
/// point (2), and the exponent (3).
struct Decimal {
  int fraction_digits, exponent;
};

/// The shortest decimal form that rounds to x, with at most `max_digits` digits.
Decimal shortest_decimal(double x, DType dtype, int max_digits) {
  std::string text;
  int digits = 0;
  do text = printf_text("%.*e", digits, x);
  while (rounded_to_dtype(std::strtod(text.c_str(), nullptr), dtype) != x &&
         ++digits <= max_digits);
  return {std::min(digits, max_digits), std::atoi(text.c_str() + text.find('e') + 1)};
}

std::string without_trailing_zeros(std::string text) {
  while (text.back() == '0') text.pop_back();
  return text;
}

}  // namespace

FloatFormat::FloatFormat(DType dtype, const std::vector<double>& numbers, int precision)
    : dtype_(dtype), precision_(precision) {
  double smallest_magnitude = INFINITY, largest_magnitude = 0;
  for (const double x : numbers) {
    if (!std::isfinite(x) || x == 0) continue;
    smallest_magnitude = std::min(smallest_magnitude, std::abs(x)),
    largest_magnitude = std::max(largest_magnitude, std::abs(x));
  }
  if (largest_magnitude > 0)
    has_exponents_ = largest_magnitude >= 1e8 || smallest_magnitude < 1e-4 ||
                     largest_magnitude / smallest_magnitude > 1000;
  for (const double x : numbers) {
    if (!std::isfinite(x) || x == 0) continue;
    const int fraction_digits = has_exponents_
                                    ? shortest_decimal(x, dtype, precision_).fraction_digits
                                    : digits_after_point(x);
    digits_ = std::clamp(fraction_digits, digits_, precision_);
  }
}

/// The number of digits after the point if x is written without an exponent.
int FloatFormat::digits_after_point(double x) const {
  if (x == 0) return 0;
  const Decimal decimal = shortest_decimal(x, dtype_, precision_);
  return std::max(0, decimal.fraction_digits - decimal.exponent);
}

std::string FloatFormat::text(double x) const {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  if (has_exponents_) {
    std::string text = printf_text("%.*e", digits_, x);
    if (digits_ == 0) text.insert(text.find('e'), ".");
    return text;
  }
  std::string text = printf_text("%.*f", std::min(digits_after_point(x), digits_), x);
  if (text.find('.') == std::string::npos) return text + "." + std::string(digits_, ' ');
  const size_t width = text.find('.') + 1 + static_cast<size_t>(digits_);
  text = without_trailing_zeros(std::move(text));
  return text.append(width - text.size(), ' ');
}

}  // namespace crescent
