// How figures prepare their data: histograms, lines with fewer points, gaps.
#include <catch2/catch.hpp>
#include <cmath>

#include "figures.h"
#include "histogram.h"
#include "scene/thinned.h"

namespace crescent::pictures {
namespace {

std::vector<size_t> line_lengths(const Dict& figure) {
  std::vector<size_t> lengths;
  for (const Element& element : layout(figure, Metrics(), {}).elements)
    if (const auto* line = std::get_if<Line>(&element); line && !line->is_rule)
      lengths.push_back(line->points.size());
  return lengths;
}

size_t dots_in(const Dict& figure) {
  size_t count = 0;
  for (const Element& element : layout(figure, Metrics(), {}).elements)
    if (const auto* dots = std::get_if<Dots>(&element)) count += dots->points.size();
  return count;
}

}  // namespace

TEST_CASE("histograms count every finite value once") {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> values(random() % 300);
    for (double& value : values) value = std::normal_distribution<double>()(random);
    const Histogram histogram = histogram_of(values, static_cast<int64_t>(random() % 20));
    REQUIRE(histogram.edges.size() == histogram.counts.size() + 1);
    for (size_t k = 0; k < histogram.counts.size(); ++k) {
      const bool is_last = k + 1 == histogram.counts.size();
      double expected = 0;
      for (const double value : values)
        expected += value >= histogram.edges[k] && (is_last || value < histogram.edges[k + 1]);
      CHECK(histogram.counts[k] == expected);
    }
    double sum = 0;
    for (const double count : histogram.counts) sum += count;
    CHECK(sum == static_cast<double>(values.size()));
  }
  CHECK(histogram_of({NAN, INFINITY, 1, 2}, 2).counts == std::vector<double>{1, 1});
  CHECK(histogram_of({3, 3, 3}, 3).counts == std::vector<double>{0, 3, 0});
  CHECK(histogram_of({0, 1, 2, 3, 4}, 4).counts == std::vector<double>{1, 1, 1, 2});
}

TEST_CASE("long lines keep the extremes of every column") {
  std::mt19937 random(9);
  std::vector<Point> line;
  for (int i = 0; i < 100'000; ++i)
    line.push_back({i * 0.006, static_cast<double>(random() % 100'000)});
  const std::vector<Point> kept_points = thinned_line(line, 1);
  CHECK(kept_points.size() <= 4 * 601);
  for (int column = 0; column < 600; ++column) {
    double min[2] = {INFINITY, INFINITY}, max[2] = {-INFINITY, -INFINITY};
    const std::vector<Point>* const lines[] = {&line, &kept_points};
    for (int k : {0, 1})
      for (const Point& p : *lines[k])
        if (std::floor(p.x) == column) {
          min[k] = std::min(min[k], p.y);
          max[k] = std::max(max[k], p.y);
        }
    REQUIRE(min[0] == min[1]);
    REQUIRE(max[0] == max[1]);
  }
}

TEST_CASE("what is no number leaves a gap, and a point alone is a dot") {
  const Value gap;
  CHECK(line_lengths(axes_of(List{1, 2, 3, 4})) == std::vector<size_t>{4});
  CHECK(line_lengths(axes_of(List{1, 2, gap, 4, 5, 6})) == std::vector<size_t>{2, 3});
  CHECK(line_lengths(axes_of(List{1, 2, INFINITY, 4, NAN})) == std::vector<size_t>{2});
  CHECK(dots_in(axes_of(List{1, 2, INFINITY, 4, NAN})) == 1);
  CHECK(dots_in(axes_of(List{5})) == 1);
  CHECK(line_lengths(axes_of(List{})).empty());
}

TEST_CASE("mistakes in figures are named") {
  const auto check_fails = [](const Dict& figure, const std::string& text) {
    CHECK_THROWS_WITH(layout(figure, Metrics(), {}), Catch::Contains(text));
  };
  check_fails({{"kind", "axis"}}, "did you mean 'axes'");
  check_fails({{"kind", "axes"}, {"series", List{Dict{{"y", List{1}}, {"style", "lines"}}}}},
              "did you mean 'line'");
  check_fails({{"kind", "axes"}, {"series", List{Dict{{"y", List{1}}, {"x", List{1, 2}}}}}},
              "expected as many x as y, 1, got 2");
  check_fails({{"kind", "heatmap"}, {"values", boxed(Tensor({2}, DType::float32))}}, "a matrix");
  check_fails({{"kind", "images"}, {"pixels", boxed(Tensor({2, 2, 2, 2}, DType::uint8))}},
              "3 or 4");
}

}  // namespace crescent::pictures
