// The positions of titles, names, numbers and colour bars in figures.
#include <catch2/catch.hpp>
#include <cmath>

#include "figures.h"
#include "histogram.h"
#include "targets/raster.h"
#include "targets/svg.h"

namespace crescent::pictures {
namespace {

Tensor matrix(int64_t rows, int64_t columns, std::vector<float> values) {
  Tensor tensor({rows, columns}, DType::float32);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

Dict heatmap_of(Tensor values) {
  return {{"kind", "heatmap"}, {"values", boxed(std::move(values))}};
}

std::vector<Text> texts_in(const Scene& scene) {
  std::vector<Text> texts;
  for (const Element& element : scene.elements)
    if (const auto* text = std::get_if<Text>(&element)) texts.push_back(*text);
  return texts;
}

bool has_text(const Scene& scene, const std::string& expected_text) {
  for (const Text& text : texts_in(scene))
    if (text.text == expected_text) return true;
  return false;
}

Text text_named(const Scene& scene, const std::string& expected_text) {
  for (const Text& text : texts_in(scene))
    if (text.text == expected_text) return text;
  FAIL("no text " << expected_text);
  return {};
}

size_t bitmaps_in(const Scene& scene) {
  size_t count = 0;
  for (const Element& element : scene.elements) count += std::holds_alternative<Bitmap>(element);
  return count;
}

/// Whether a column of pixels is white.
bool is_white(const Raster& raster, int64_t column) {
  for (int64_t row = 0; row < raster.rows; ++row)
    for (int64_t c = 0; c < 3; ++c)
      if (raster.rgb[static_cast<size_t>(3 * (row * raster.columns + column) + c)] != 255)
        return false;
  return true;
}

}  // namespace

TEST_CASE("titles stay inside of pictures") {
  const std::string title = "WWWW a long title of a small picture WWWW";
  Tensor white({1, 2, 310, 1}, DType::uint8);
  std::fill_n(white.mutable_data<uint8_t>(), white.size(), uint8_t{255});
  Dict images_figure{{"kind", "images"}, {"pixels", boxed(white)}};
  Dict axes_figure = axes_of(List{1, 2});
  Dict heatmap_figure = heatmap_of(matrix(1, 1, {1}));
  for (Dict* figure : {&images_figure, &axes_figure, &heatmap_figure}) {
    figure->set("title", title);
    const bool is_wide = figure != &axes_figure;
    const Scene scene = layout(*figure, Metrics(), {.width = is_wide ? 0.0 : 300.0});
    CHECK(has_text(scene, title) == is_wide);
    const Raster raster = raster_of(scene);
    CHECK(is_white(raster, 0));
    CHECK(is_white(raster, raster.columns - 1));
  }
}

TEST_CASE("labels that are cut stay below their images") {
  Dict figure{{"kind", "images"},
              {"pixels", boxed(Tensor({1, 1, 1, 1}, DType::uint8))},
              {"labels", List{"WWWWWWWWWWWWWWWWWWWWWWWWW"}}};
  for (const double width : {60, 61, 63, 67, 71, 73}) {
    const Raster raster = raster_of(layout(figure, Metrics(), {.width = width}));
    const int64_t first = raster.rows - 18;
    for (int64_t row = first; row < raster.rows; ++row)
      for (const int64_t column : {int64_t{0}, raster.columns - 1})
        CHECK(raster.rgb[static_cast<size_t>(3 * (row * raster.columns + column))] == 255);
  }
}

TEST_CASE("names of rows end beside the name of the axis") {
  Dict figure = heatmap_of(matrix(2, 1, {1, 2}));
  const std::string name = "a name that is much longer than there is room for it beside";
  figure.set("rows", List{name, "b"});
  figure.set("ylabel", "true");
  const Scene scene = layout(figure, Metrics(), {});
  const Text axis = text_named(scene, "true");
  for (const Text& text : texts_in(scene))
    if (text.text.starts_with("a name"))
      CHECK(text.at.x - Metrics().width(text.text) >= axis.at.x + Metrics().line_height / 2);
}

TEST_CASE("a label that is wider than the fields of a heatmap is whole where there is room") {
  for (const Metrics& metrics : {Metrics(), cell_metrics()}) {
    Dict figure = heatmap_of(matrix(1, 1, {1}));
    figure.set("xlabel", "predicted, by the network");
    const Scene scene = layout(figure, metrics, {});
    REQUIRE(has_text(scene, "predicted, by the network"));
    const Text label = text_named(scene, "predicted, by the network");
    const double half = metrics.width(label.text) / 2;
    CHECK(label.at.x - half >= -1e-9);
    CHECK(label.at.x + half <= scene.width + 1e-9);
  }
}

TEST_CASE("heatmaps fill the size that is asked for") {
  const Dict figure = heatmap_of(matrix(2, 3, {1, 2, 3, 4, 5, 6}));
  for (const Metrics& metrics : {Metrics(), cell_metrics()}) {
    const Size size = metrics.in_cells ? Size{60, 20} : Size{900, 500};
    const Scene scene = layout(figure, metrics, size);
    CHECK(scene.width == Approx(size.width).epsilon(metrics.in_cells ? 0.1 : 0));
    CHECK(scene.height == Approx(size.height).epsilon(metrics.in_cells ? 0.1 : 0));
    double right = 0, bottom = 0;
    for (const Element& element : scene.elements)
      if (const auto* box = std::get_if<Box>(&element)) {
        right = std::max(right, box->at.x + box->width);
        bottom = std::max(bottom, box->at.y + box->height);
      }
    CHECK(right > 0.8 * size.width);
    CHECK(bottom > 0.8 * size.height);
  }
  const Scene wide_scene = layout(figure, Metrics(), {.width = 900});
  CHECK(wide_scene.width == 900);
  CHECK(wide_scene.height > 1.5 * layout(figure, Metrics(), {}).height);
}

TEST_CASE("a bar says what the colours of a heatmap mean") {
  Dict figure = heatmap_of(matrix(4, 2, {0, 1, 2, 3, 4, 5, 6, 8}));
  CHECK(bitmaps_in(layout(figure, Metrics(), {})) == 1);
  CHECK(bitmaps_in(layout(figure, cell_metrics(), {})) == 0);
  figure.set("numbers", false);
  CHECK(bitmaps_in(layout(figure, cell_metrics(), {})) == 2);
  const Scene scene = layout(figure, Metrics(), {});
  for (const char* number : {"0", "2", "4", "6", "8"}) CHECK(has_text(scene, number));
  CHECK(text_named(scene, "8").at.y < text_named(scene, "4").at.y);
  figure.set("colorbar", false);
  CHECK(bitmaps_in(layout(figure, Metrics(), {})) == 1);
  CHECK(bitmaps_in(layout(heatmap_of(matrix(1, 2, {3, 3})), Metrics(), {})) == 0);
}

TEST_CASE("a large heatmap is a small file") {
  const int64_t side = 300;
  std::mt19937 random(8);
  const Scene scene = layout(heatmap_of(random_tensor(random, {side, side})), Metrics(), {});
  CHECK(svg_of(scene).size() < 8 * side * side);  // fewer than 8 bytes per cell
}

TEST_CASE("a bar of grays says what images show") {
  Dict figure{{"kind", "images"},
              {"pixels", boxed(Tensor({1, 9, 9, 1}, DType::uint8))},
              {"range", List{-1, 1}}};
  const Scene scene = layout(figure, Metrics(), {.width = 400});
  CHECK(scene.width == Approx(400));
  CHECK(bitmaps_in(scene) == 2);
  CHECK(has_text(scene, "-1.0"));
  figure.set("range", List{1, 1});
  CHECK(bitmaps_in(layout(figure, Metrics(), {})) == 1);
}

TEST_CASE("what is no number has no sign") {
  const float nan = -std::nanf("");
  const Scene scene = layout(heatmap_of(matrix(1, 2, {nan, 1})), Metrics(), {});
  CHECK(has_text(scene, "nan"));
  CHECK(!has_text(scene, "-nan"));
}

TEST_CASE("names are as many as what they name") {
  const auto check_fails = [](Dict figure, const char* name, const List& names,
                              const char* message) {
    figure.set(name, names);
    CHECK_THROWS_WITH(layout(figure, Metrics(), {}), Catch::Contains(message));
  };
  const Dict heatmap = heatmap_of(matrix(1, 2, {1, 2}));
  check_fails(heatmap, "columns", List{"a"}, "columns: expected 2 texts, got 1");
  check_fails(heatmap, "rows", List{"a", "b"}, "rows: expected 1 texts, got 2");
  const Dict images_figure{{"kind", "images"},
                           {"pixels", boxed(Tensor({2, 1, 1, 1}, DType::uint8))}};
  check_fails(images_figure, "labels", List{"a"}, "labels: expected 2 texts, got 1");
}

TEST_CASE("a histogram has from 1 to 10000 bins") {
  for (const int64_t bins : {-1, 0, 10'001}) {
    const Dict series{{"y", List{1, 2}}, {"style", "histogram"}, {"bins", bins}};
    CHECK_THROWS_WITH(layout({{"kind", "axes"}, {"series", List{series}}}, Metrics(), {}),
                      Catch::Contains("bins: expected a number from 1 to 10000"));
  }
}

TEST_CASE("the greatest numbers are drawn") {
  const double greatest = 1.7e308;
  const Scene scene = layout(axes_of(List{-greatest, greatest}), Metrics(), {});
  std::vector<Point> line;
  for (const Element& element : scene.elements)
    if (const auto* element_line = std::get_if<Line>(&element);
        element_line && !element_line->is_rule)
      line = element_line->points;
  REQUIRE(line.size() == 2);
  CHECK(line[0].y > line[1].y + 100);
  CHECK(has_text(scene, "1.0e308"));
  const Histogram histogram = histogram_of({-greatest, greatest}, 2);
  CHECK(histogram.counts == std::vector<double>{1, 1});
  CHECK(histogram.edges == std::vector<double>{-greatest, 0, greatest});
  for (const double edge : histogram_of({greatest, greatest}, 3).edges) CHECK(std::isfinite(edge));
  const Dict bars{{"y", List{greatest, -greatest}}, {"style", "bars"}};
  CHECK_NOTHROW(raster_of(layout({{"kind", "axes"}, {"series", List{bars}}}, Metrics(), {})));
}

TEST_CASE("a legend names the colours of images") {
  const Dict figure{{"kind", "images"},
                    {"pixels", boxed(Tensor({1, 30, 90, 3}, DType::uint8))},
                    {"labels", List{"above\nbelow"}},
                    {"legend", List{Dict{{"label", "cat"}, {"color", List{250, 10, 20}}}}}};
  const Scene scene = layout(figure, Metrics(), {.width = 300});
  CHECK(scene.height == Approx(100 + 3 * Metrics().line_height));
  CHECK(text_named(scene, "below").at.y == Approx(text_named(scene, "above").at.y + 18));
  const Raster raster = raster_of(scene);
  bool has_color = false;
  for (size_t i = 0; i < raster.rgb.size(); i += 3)
    has_color =
        has_color || (raster.rgb[i] == 250 && raster.rgb[i + 1] == 10 && raster.rgb[i + 2] == 20);
  CHECK(has_color);
}

}  // namespace crescent::pictures
