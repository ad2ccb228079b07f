#include "training/watch/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace crescent {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Counts the NaN and infinite elements, and removes them.
void remove_nonfinite(std::vector<double>& elements, TensorStatistics& statistics) {
  statistics.nan = std::count_if(elements.begin(), elements.end(), [](double x) { return x != x; });
  const auto end =
      std::remove_if(elements.begin(), elements.end(), [](double x) { return !std::isfinite(x); });
  statistics.inf = elements.end() - end - statistics.nan;
  elements.erase(end, elements.end());
}

double mean_of(const std::vector<double>& elements) {
  double sum = 0;
  for (double x : elements) sum += x;
  return sum / static_cast<double>(elements.size());
}

double standard_deviation(const std::vector<double>& elements, double mean) {
  double square_sum = 0;
  for (double x : elements) square_sum += (x - mean) * (x - mean);
  return std::sqrt(square_sum / static_cast<double>(elements.size()));
}

}  // namespace

std::optional<TensorStatistics> statistics_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::string || tensor.dtype() == DType::complex64) return std::nullopt;
  std::vector<double> elements = tensor.to_vector();
  TensorStatistics result{kNaN, kNaN, kNaN, kNaN, kNaN};
  const auto count = static_cast<double>(elements.size());
  remove_nonfinite(elements, result);
  if (elements.empty()) return result;
  const auto [min, max] = std::minmax_element(elements.begin(), elements.end());
  result.min = *min, result.max = *max;
  result.mean = mean_of(elements);
  result.std = standard_deviation(elements, result.mean);
  result.zeros = static_cast<double>(std::count(elements.begin(), elements.end(), 0.0)) / count;
  return result;
}

std::string short_number(double x) {
  if (std::isnan(x)) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

}  // namespace crescent
