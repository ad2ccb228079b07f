// Drawn scenes in every output format: the exact text, and pixels decoded by independent readers.
#include <catch2/catch.hpp>
#include <cmath>

#include "decoded.h"
#include "figures.h"
#include "targets/cells.h"
#include "targets/graphics.h"
#include "targets/png.h"
#include "targets/svg.h"

namespace crescent::pictures {
namespace {

std::string text_of(const Dict& figure, double width, double height, bool unicode = true,
                    int colors = 0) {
  return "\n" + cells_of(layout(figure, cell_metrics(), {.width = width, .height = height}),
                         {colors, unicode});
}

Raster noise(std::mt19937& random, int64_t rows, int64_t columns, int levels) {
  Raster raster{rows, columns, {}};
  for (int64_t i = 0; i < 3 * rows * columns; ++i)
    raster.rgb.push_back(static_cast<uint8_t>(255 * (random() % levels) / (levels - 1)));
  return raster;
}

bool has_color(const Raster& raster, Color c) {
  for (size_t i = 0; i < raster.rgb.size(); i += 3)
    if (raster.rgb[i] == c.red && raster.rgb[i + 1] == c.green && raster.rgb[i + 2] == c.blue)
      return true;
  return false;
}

/// Checks XML and returns the names of open elements; fails for a closing tag without its opening
/// tag and for invalid characters.
std::vector<std::string> check_markup(const std::string& text) {
  std::vector<std::string> open_tags;
  for (size_t i = text.find("?>") + 2; i < text.size(); ++i) {
    if (text[i] == '&') REQUIRE(text.find(';', i) - i <= 5);
    REQUIRE((static_cast<unsigned char>(text[i]) >= 0x20 || text[i] == '\n'));
    if (text[i] != '<') continue;
    const size_t end = text.find('>', i);
    REQUIRE(end != text.npos);
    const std::string tag = text.substr(i + 1, end - i - 1);
    REQUIRE(tag.find('<') == tag.npos);
    const std::string name = tag.substr(0, tag.find(' '));
    if (name[0] == '/') {
      REQUIRE(!open_tags.empty());
      REQUIRE(open_tags.back() == name.substr(1));
      open_tags.pop_back();
    } else if (tag.back() != '/') {
      open_tags.push_back(name);
    }
    i = end;
  }
  return open_tags;
}

}  // namespace

TEST_CASE("a plot as text") {
  Dict figure = axes_of(List{0, 1, 4, 9, 16});
  figure.set("title", "squares");
  CHECK(text_of(figure, 24, 8) == R"(
        squares
   │                 ⡠⠊
 10┤              ⢀⠤⠊
   │            ⡠⠔⠁
   │       ⢀⣀⠠⠔⠉
  0┤⣀⣀⠤⠤⠤⠒⠊⠁
   └┬────────┬────────┬
    0        2        4
)");
  CHECK(text_of(figure, 24, 8, false) == R"(
        squares
   |                 **
 10+              ***
   |            ***
   |       *****
  0+********
   ++--------+--------+
    0        2        4
)");
}

TEST_CASE("bars, labels and a legend as text") {
  const Dict figure{
      {"kind", "axes"},
      {"xlabel", "x"},
      {"ylabel", "y"},
      {"series", List{Dict{{"y", List{1, 3, 2}}, {"style", "bars"}, {"label", "n"}}}}};
  CHECK(text_of(figure, 20, 10) == R"(
  ⠤⠤ n
y
  │      ████
 2┤      ████ ▃▃▃▃
  │      ████ ████
  │ ▅▅▅▅ ████ ████
 0┤ ████ ████ ████
  └──┬─────┬────┬──
     0     1    2
          x
)");
}

TEST_CASE("random figures fit their size in every target") {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    const Dict figure = random_figure(random);
    const double width = 1 + static_cast<double>(random() % 120),
                 height = 1 + static_cast<double>(random() % 40);
    INFO(to_text(Value(figure)) << " in " << width << " x " << height);
    const Scene cells = layout(figure, cell_metrics(), {.width = width, .height = height});
    for (const bool unicode : {true, false}) {
      const std::string text = cells_of(cells, {0, unicode});
      size_t begin = 0;
      for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
        REQUIRE(letters_in(text.substr(begin, end - begin)) <= std::ceil(cells.width));
      if (!unicode)
        for (const char c : text) REQUIRE(static_cast<unsigned char>(c) < 127);
    }
    const Scene pixels = layout(figure, Metrics(), {.width = 8 * width, .height = 16 * height});
    REQUIRE(check_markup(svg_of(pixels)).empty());
    const Raster raster = raster_of(pixels);
    REQUIRE(raster.columns == std::max(1.0, std::ceil(pixels.width)));
    REQUIRE(raster.rgb.size() == static_cast<size_t>(3 * raster.rows * raster.columns));
  }
}

TEST_CASE("PNG and kitty hold the pixels") {
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    const Raster raster = noise(random, 1 + random() % 70, 1 + random() % 70, 256);
    CHECK(decoded_png(encode_png(raster.rgb, raster.rows, raster.columns)).rgb == raster.rgb);
    CHECK(decoded_png(decoded_kitty(kitty_of(raster))).rgb == raster.rgb);
  }
}

TEST_CASE("sixel holds few colours exactly and many on average") {
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    const int levels = i % 2 ? 2 + random() % 5 : 256;
    const Raster raster = noise(random, 1 + random() % 60, 1 + random() % 60, levels);
    const Raster decoded = decoded_sixel(sixel_of(raster));
    REQUIRE(decoded.rows == raster.rows);
    REQUIRE(decoded.columns == raster.columns);
    double sum = 0;
    for (size_t k = 0; k < raster.rgb.size(); ++k) {
      const int error = std::abs(decoded.rgb[k] - raster.rgb[k]);
      REQUIRE(error <= (levels < 7 ? 2 : 52));
      sum += decoded.rgb[k] - raster.rgb[k];
    }
    if (raster.rgb.size() > 3000) CHECK(std::abs(sum / static_cast<double>(raster.rgb.size())) < 4);
  }
}

TEST_CASE("pixels have the colours of series, bars and images") {
  const Dict figure{{"kind", "axes"},
                    {"series", List{Dict{{"y", List{1, 2, 1}}}, Dict{{"y", List{2, 1, 2}}},
                                    Dict{{"y", List{1, 1, 1}}, {"style", "bars"}}}}};
  const Raster raster = raster_of(layout(figure, Metrics(), {}));
  CHECK(raster.columns == 640);
  for (size_t i : {1, 2}) CHECK(has_color(raster, series_color(i)));
  CHECK(!has_color(raster, series_color(3)));
  Tensor image({1, 2, 2, 3}, DType::uint8);
  image.mutable_data<uint8_t>()[0] = 200;
  const Raster pixels = raster_of(
      layout({{"kind", "images"}, {"pixels", boxed(image)}}, Metrics(), {.width = 2, .height = 2}));
  CHECK(pixels.rgb == std::vector<uint8_t>{200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("SVG keeps texts as texts") {
  Dict figure = axes_of(List{1, 2});
  figure.set("title", "a < b & \"c\" \xc3\xa4");
  const std::string svg = svg_of(layout(figure, Metrics(), {}));
  CHECK(svg.find(">a &lt; b &amp; &quot;c&quot; \xc3\xa4</text>") != svg.npos);
  figure.set("title", "\033[31m\001");
  CHECK(check_markup(svg_of(layout(figure, Metrics(), {}))).empty());
}

TEST_CASE("images as halves of cells, and as shades without colours") {
  Tensor image({1, 2, 2, 1}, DType::uint8);
  const uint8_t values[] = {0, 255, 255, 0};
  std::copy(values, values + 4, image.mutable_data<uint8_t>());
  const Dict figure{{"kind", "images"}, {"pixels", boxed(image)}};
  CHECK(text_of(figure, 2, 1, true, 1 << 24) ==
        "\n\033[38;2;0;0;0m\033[48;2;255;255;255m▀\033[0m\033[38;2;255;255;255m\033[48;2;0;0;0m▀"
        "\033[0m\n");
  CHECK(text_of(figure, 2, 1) == "\n==\n");
}

TEST_CASE("colours of terminals") {
  CHECK(color_code({255, 0, 0}, false, 1 << 24) == "\033[38;2;255;0;0m");
  CHECK(color_code({255, 0, 0}, true, 256) == "\033[48;5;196m");
  CHECK(color_code({128, 128, 128}, false, 256) == "\033[38;5;244m");
  CHECK(color_code({250, 80, 80}, false, 16) == "\033[91m");
  CHECK(color_code({0, 0, 0}, true, 16) == "\033[40m");
  CHECK(color_code({0, 0, 0}, true, 0).empty());
}

}  // namespace crescent::pictures
