// Shapes of elements that several targets use.
#include <algorithm>
#include <cmath>

#include "scene/scene.h"

namespace crescent::pictures {

std::vector<Point> arrow_head(const Line& line) {
  const Point tip = line.points.back(), from = line.points[line.points.size() - 2];
  const double length = std::max(std::hypot(tip.x - from.x, tip.y - from.y), 1e-9);
  const double x = (tip.x - from.x) / length, y = (tip.y - from.y) / length;
  return {tip,
          {tip.x - 8 * x - 3.5 * y, tip.y - 8 * y + 3.5 * x},
          {tip.x - 8 * x + 3.5 * y, tip.y - 8 * y - 3.5 * x}};
}

Color mean_of(const Bitmap& bitmap, int64_t top, int64_t left, int64_t bottom, int64_t right) {
  int64_t sums[3] = {};
  for (int64_t y = top; y < bottom; ++y)
    for (int64_t x = left; x < right; ++x)
      for (int64_t c = 0; c < 3; ++c)
        sums[c] += bitmap.rgb[static_cast<size_t>(3 * (y * bitmap.columns + x) + c)];
  const int64_t count = (bottom - top) * (right - left), half = count / 2;
  return {static_cast<uint8_t>((sums[0] + half) / count),
          static_cast<uint8_t>((sums[1] + half) / count),
          static_cast<uint8_t>((sums[2] + half) / count)};
}

}  // namespace crescent::pictures
