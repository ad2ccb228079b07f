// Reduces long series to those points that make a visible difference.
#pragma once
#include "scene/scene.h"

namespace crescent::pictures {

/// Divides the picture into columns of this width, and keeps the first, lowest, highest and last
/// point of the line in each column. Lines whose x does not ascend, and short lines, are unchanged.
std::vector<Point> thinned_line(const std::vector<Point>& line, double column_width);
/// Removes points that are in the same square of a grid as an earlier point; `size` is the side of
/// the squares.
std::vector<Point> distinct_points(const std::vector<Point>& points, double size);

}  // namespace crescent::pictures
