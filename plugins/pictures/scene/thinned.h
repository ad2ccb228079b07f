// Reduces long series to those points that make a visible difference.
#pragma once
#include "scene/scene.h"

namespace crescent::pictures {

/// Keeps the first, lowest, highest and last point in each column of this width. Lines whose x does
/// not ascend, and short lines, are unchanged.
std::vector<Point> thinned(const std::vector<Point>& line, double column);
/// Removes points that are in the same square of a grid as an earlier point; `size` is the side of
/// the squares.
std::vector<Point> distinct(const std::vector<Point>& points, double size);

}  // namespace crescent::pictures
