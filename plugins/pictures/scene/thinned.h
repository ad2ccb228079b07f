// Reduces long series to the points that are visible.
#pragma once
#include "scene/scene.h"

namespace crescent::pictures {

/// If x ascends, keeps the first, lowest, highest and last point of each column of this width;
/// other lines, and short ones, are unchanged.
std::vector<Point> thinned(const std::vector<Point>& line, double column);
/// Removes points that lie in the same square of this size as an earlier point.
std::vector<Point> distinct(const std::vector<Point>& points, double size);

}  // namespace crescent::pictures
