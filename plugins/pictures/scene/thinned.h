// Long series, reduced to what can be seen.
#pragma once
#include "scene/scene.h"

namespace crescent::pictures {

/// Of a line that goes to the right, the first, lowest, highest and last point of each column of
/// this width; another line, or one with few points, stays as it is.
std::vector<Point> thinned(const std::vector<Point>& line, double column);
/// The points without those in a square of this size that has one already.
std::vector<Point> distinct(const std::vector<Point>& points, double size);

}  // namespace crescent::pictures
