// The colours of series and of heat maps.
#include <algorithm>
#include <cmath>

#include "scene/scene.h"

namespace crescent::pictures {
namespace {

constexpr Color kSeriesColors[] = {
    {31, 119, 180}, {255, 127, 14},  {44, 160, 44},   {214, 39, 40},  {148, 103, 189},
    {140, 86, 75},  {227, 119, 194}, {127, 127, 127}, {188, 189, 34}, {23, 190, 207}};
constexpr Color kViridis[] = {{68, 1, 84},    {72, 40, 120},  {62, 74, 137},  {49, 104, 142},
                              {38, 130, 142}, {31, 158, 137}, {53, 183, 121}, {110, 206, 88},
                              {181, 222, 43}, {253, 231, 37}};

uint8_t interpolated(uint8_t from, uint8_t to, double share) {
  return static_cast<uint8_t>(std::lround(from + (to - from) * share));
}

}  // namespace

Color series_color(size_t number) { return kSeriesColors[number % std::size(kSeriesColors)]; }

Color heat_color(double share) {
  const double position = std::clamp(share, 0.0, 1.0) * (std::size(kViridis) - 1);
  const size_t lower_index = std::min(static_cast<size_t>(position), std::size(kViridis) - 2);
  const Color lower = kViridis[lower_index], upper = kViridis[lower_index + 1];
  const double fraction = position - static_cast<double>(lower_index);
  return {interpolated(lower.red, upper.red, fraction),
          interpolated(lower.green, upper.green, fraction),
          interpolated(lower.blue, upper.blue, fraction)};
}

Color gray_color(double share) {
  const uint8_t gray = interpolated(0, 255, std::clamp(share, 0.0, 1.0));
  return {gray, gray, gray};
}

Color readable_on(Color c) {
  return 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue > 140 ? Color{0, 0, 0} : kWhite;
}

}  // namespace crescent::pictures
