// Scene: the elements of a picture, in the units of its target: pixels, or the cells of a terminal.
// A figure is laid out as a scene, and each target format has its own code that draws scenes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace crescent::pictures {

struct Point {
  double x = 0, y = 0;  ///< x from the left to the right, y from the top to the bottom
};

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  bool plain = false;  ///< whether a terminal shows the element in its default text colour
};
inline constexpr Color kInk{0x26, 0x26, 0x26, true};
inline constexpr Color kWhite{0xff, 0xff, 0xff};
inline constexpr Color kGrid{0xe4, 0xe4, 0xe4};

enum class Anchor { start, middle, end };

struct Text {
  /// The position of the text: vertically the middle of its line, horizontally its start, middle or
  /// end, as `anchor` says.
  Point at;
  std::string text;
  Anchor anchor = Anchor::start;
  Color color = kInk;
  double size = 1;  ///< font size as a multiple of the usual one
  bool bold = false;
  /// Whether the text is rotated by 90 degrees, so that it is read from the bottom to the top.
  bool upright = false;
};

struct Line {
  std::vector<Point> points;
  Color color = kInk;
  double width = 1;  ///< line width in pixels
  bool dashed = false;
  /// Whether all pieces of the line are horizontal or vertical, as in the frame of a plot and in
  /// the edges of a graph. Terminals draw such a line with box-drawing characters.
  bool is_rule = false;
  bool has_arrow = false;  ///< whether the line ends in an arrow head
  /// The index of the series, from which the marker follows if the target has no colours.
  size_t series_index = 0;
};

struct Dots {
  std::vector<Point> points;
  Color color = kInk;
  double radius = 2.5;  ///< radius of a dot in pixels
  size_t series_index = 0;
};

/// The role of a box; terminals draw each role differently.
enum class BoxKind {
  field,  ///< a coloured background
  bar,    ///< a bar of a bar chart
  frame   ///< an outline
};

struct Box {
  Point at;
  double width = 0, height = 0;
  std::optional<Color> fill = {}, edge = {};
  BoxKind kind = BoxKind::field;
  bool dashed = false;
  size_t series_index = 0;
};

/// An image that is scaled to a region.
struct Bitmap {
  Point at;
  double width = 0, height = 0;  ///< size of the region
  int64_t rows = 0, columns = 0;
  std::vector<uint8_t> rgb = {};  ///< (rows, columns, 3)
};

using Element = std::variant<Box, Line, Dots, Bitmap, Text>;

struct Scene {
  double width = 0, height = 0;
  /// Elements in the order of drawing: later ones cover earlier ones.
  std::vector<Element> elements;
};

/// The properties of a target format that the layout of a figure depends on.
struct Metrics {
  bool in_cells = false;    ///< whether units are terminal cells, which are twice as high as wide
  double line_height = 18;  ///< the height of a line of text
  double size = 13;         ///< the usual font size
  double width(std::string_view text, double scale = 1) const;
  /// The height, in units, of a square whose width is 1.
  double aspect() const { return in_cells ? 0.5 : 1; }
};
inline Metrics cell_metrics() { return {.in_cells = true, .line_height = 1, .size = 1}; }

/// The width of the text in DejaVu Sans of font size 1.
double proportional_width(std::string_view text);
/// The number of characters of a UTF-8 text.
size_t letters_in(std::string_view text);
/// The first `count` characters of the text.
std::string_view first_letters(std::string_view text, size_t count);
/// The text, or, if it is wider than `width`, its beginning followed by dots.
std::string fitted_text(const Metrics& metrics, const std::string& text, double width);

/// The triangle at the end of a line.
std::vector<Point> arrow_head(const Line& line);
/// The mean colour of the pixels in a part of a bitmap; the part must not be empty.
Color mean_of(const Bitmap& bitmap, int64_t top, int64_t left, int64_t bottom, int64_t right);

/// The colour of a series: one of ten distinct colours, in turn.
Color series_color(size_t number);
/// The colour for a number from 0 to 1: from dark blue through green to yellow (viridis).
Color heat_color(double share);
/// The colour for a number from 0 to 1: from black to white.
Color gray_color(double share);
/// Black or white, whichever is easier to read on the background.
Color readable_on(Color background);

}  // namespace crescent::pictures
