#include "scene/thinned.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace crescent::pictures {
namespace {

bool is_left(const Point& a, const Point& b) { return a.x < b.x; }
bool is_above(const Point& a, const Point& b) { return a.y < b.y; }

/// Adds the first, highest, lowest and last point of a column, in their original order.
void add_column(std::vector<Point>& kept_points, const Point* first, const Point* end) {
  const auto [highest, lowest] = std::minmax_element(first, end, is_above);
  std::set<const Point*> extremes{first, highest, lowest, end - 1};
  for (const Point* point : extremes) kept_points.push_back(*point);
}

}  // namespace

std::vector<Point> thinned_line(const std::vector<Point>& line, double column_width) {
  if (line.size() < 5 || !std::is_sorted(line.begin(), line.end(), is_left)) return line;
  std::vector<Point> result;
  const Point* end = line.data() + line.size();
  for (const Point* column_start = line.data(); column_start != end;) {
    const double column_of_first = std::floor(column_start->x / column_width);
    const Point* column_end = std::find_if(column_start, end, [&](const Point& p) {
      return std::floor(p.x / column_width) != column_of_first;
    });
    add_column(result, column_start, column_end);
    column_start = column_end;
  }
  return result;
}

std::vector<Point> distinct_points(const std::vector<Point>& points, double size) {
  std::set<std::pair<double, double>> used_squares;
  std::vector<Point> result;
  for (const Point& p : points)
    if (used_squares.insert({std::floor(p.x / size), std::floor(p.y / size)}).second)
      result.push_back(p);
  return result;
}

}  // namespace crescent::pictures
