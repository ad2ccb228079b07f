#include "scene/thinned.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace crescent::pictures {
namespace {

bool is_left(const Point& a, const Point& b) { return a.x < b.x; }
bool is_above(const Point& a, const Point& b) { return a.y < b.y; }

/// Adds the first, highest, lowest and last point of a column, in their original order.
void add_column(std::vector<Point>& kept, const Point* first, const Point* end) {
  const auto [highest, lowest] = std::minmax_element(first, end, is_above);
  std::set<const Point*> seen{first, highest, lowest, end - 1};
  for (const Point* point : seen) kept.push_back(*point);
}

}  // namespace

std::vector<Point> thinned(const std::vector<Point>& line, double column) {
  if (line.size() < 5 || !std::is_sorted(line.begin(), line.end(), is_left)) return line;
  std::vector<Point> kept;
  const Point* end = line.data() + line.size();
  for (const Point* first = line.data(); first != end;) {
    const double column_of_first = std::floor(first->x / column);
    const Point* last = std::find_if(
        first, end, [&](const Point& p) { return std::floor(p.x / column) != column_of_first; });
    add_column(kept, first, last);
    first = last;
  }
  return kept;
}

std::vector<Point> distinct(const std::vector<Point>& points, double size) {
  std::set<std::pair<double, double>> taken;
  std::vector<Point> kept;
  for (const Point& p : points)
    if (taken.insert({std::floor(p.x / size), std::floor(p.y / size)}).second) kept.push_back(p);
  return kept;
}

}  // namespace crescent::pictures
