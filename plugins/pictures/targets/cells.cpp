#include "targets/cells.h"

#include <algorithm>
#include <cmath>

#include "crescent/base/error.h"

namespace crescent::pictures {
namespace {

enum Side : uint8_t { kUp = 1, kDown = 2, kLeft = 4, kRight = 8 };

/// Box-drawing characters. Each bit of the index (Side) stands for a side of the cell to which a
/// line goes.
constexpr const char* kRules[] = {" ", "╵", "╷", "│", "╴", "┘", "┐", "┤",
                                  "╶", "└", "┌", "├", "─", "┴", "┬", "┼"};
constexpr const char* kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kShades = " .:-=+*#%@";   // characters for brightness, from dark to light
constexpr const char* kMarkers = "*+ox#%&=~^";  // markers of series in terminals without colours

/// The bit of each dot in a Braille character, by row and column.
constexpr uint8_t kDots[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

std::string braille(uint8_t dots) {
  return {'\xe2', static_cast<char>(0xa0 | dots >> 6), static_cast<char>(0x80 | (dots & 0x3f))};
}

struct Cell {
  /// The character that the cell shows; if empty, the character follows from `dots` and
  /// `line_sides`.
  std::string letter;
  uint8_t dots = 0, line_sides = 0;
  std::optional<Color> foreground, background_color;
  bool bold = false;
};

class CellCanvas {
 public:
  CellCanvas(const Scene& scene, const CellOptions& options)
      : columns_(columns_of(scene, options)),
        rows_(static_cast<int64_t>(std::ceil(scene.height))),
        cells_(static_cast<size_t>(columns_ * rows_)),
        options_(options) {
    draws_markers_ = !options.unicode || (options.colors == 0 && count_series(scene) > 1);
  }

  void draw(const Text& text) {
    const auto width = static_cast<double>(letters_in(text.text));
    const double left = text.anchor == Anchor::start ? text.at.x
                        : text.anchor == Anchor::end ? text.at.x - width
                                                     : text.at.x - width / 2;
    auto column = static_cast<int64_t>(std::floor(left + 1e-9));
    const auto row = static_cast<int64_t>(std::floor(text.at.y));
    std::string_view remaining_text = text.text;
    for (; !remaining_text.empty(); ++column) {
      const std::string_view letter = first_letters(remaining_text, 1);
      if (letter != " " || at(column, row).letter != " ")
        put(column, row, std::string(letter), text.color, text.bold);
      remaining_text.remove_prefix(letter.size());
    }
  }

  void draw(const Line& line) {
    if (line.is_rule) {
      for (size_t i = 1; i < line.points.size(); ++i) add_rule(line.points[i - 1], line.points[i]);
      if (line.has_arrow) add_arrow(line);
      return;
    }
    int64_t dash_position = 0;
    for (size_t i = 1; i < line.points.size(); ++i)
      dash_position = add_segment(line, line.points[i - 1], line.points[i], dash_position);
  }

  void draw(const Dots& dots) {
    for (const Point& p : dots.points) add_dot(p, dots.color, dots.series_index);
  }

  void draw(const Box& box) {
    if (box.kind == BoxKind::bar) return draw_bar(box);
    if (box.kind == BoxKind::frame) return draw_frame(box);
    if (options_.colors == 0) return;
    for (auto row = static_cast<int64_t>(box.at.y); row < box.at.y + box.height - 0.5; ++row)
      for (auto column = static_cast<int64_t>(box.at.x); column < box.at.x + box.width - 0.5;
           ++column)
        at(column, row).background_color = box.fill;
  }

  /// Draws two pixels of a bitmap per cell, one in the upper and one in the lower half.
  void draw(const Bitmap& bitmap) {
    const auto top = static_cast<int64_t>(bitmap.at.y), left = static_cast<int64_t>(bitmap.at.x);
    const auto rows = static_cast<int64_t>(bitmap.height),
               columns = static_cast<int64_t>(bitmap.width);
    for (int64_t y = 0; y < rows; ++y)
      for (int64_t x = 0; x < columns; ++x) {
        const Color upper = mean_color_of_part(bitmap, 2 * y, x, 2 * rows, columns),
                    lower = mean_color_of_part(bitmap, 2 * y + 1, x, 2 * rows, columns);
        put_halves(left + x, top + y, upper, lower);
      }
  }

  std::string text() const {
    std::string text;
    for (int64_t row = 0; row < rows_; ++row) text += line_text(row) + "\n";
    return text;
  }

 private:
  static int64_t columns_of(const Scene& scene, const CellOptions& options) {
    const auto columns = static_cast<int64_t>(std::ceil(scene.width));
    return options.columns > 0 ? std::min(columns, options.columns) : columns;
  }

  static size_t count_series(const Scene& scene) {
    size_t max = 0;
    for (const Element& element : scene.elements) {
      if (const auto* line = std::get_if<Line>(&element); line && !line->is_rule)
        max = std::max(max, line->series_index + 1);
      if (const auto* dots = std::get_if<Dots>(&element))
        max = std::max(max, dots->series_index + 1);
    }
    return max;
  }

  /// The cell at this position. Positions outside of the picture refer to a cell that is never
  /// shown.
  Cell& at(int64_t column, int64_t row) {
    const bool is_inside = column >= 0 && row >= 0 && column < columns_ && row < rows_;
    return is_inside ? cells_[static_cast<size_t>(row * columns_ + column)]
                     : outside_cell_ = Cell();
  }

  void put(int64_t column, int64_t row, std::string letter, Color color, bool bold = false) {
    Cell& cell = at(column, row);
    cell.letter = std::move(letter);
    cell.foreground = color;
    cell.bold = bold;
  }

  void add_dot(Point p, Color color, size_t series) {
    const auto column = static_cast<int64_t>(std::floor(p.x)),
               row = static_cast<int64_t>(std::floor(p.y));
    if (draws_markers_) return put(column, row, std::string(1, kMarkers[series % 10]), color);
    Cell& cell = at(column, row);
    cell.dots |= kDots[static_cast<int>((p.y - std::floor(p.y)) * 4)]
                      [static_cast<int>((p.x - std::floor(p.x)) * 2)];
    cell.foreground = color;
  }

  /// Draws a segment of a line as dots; in a dashed line every other pair of dots is omitted.
  /// `dots_before` is the number of dots before the segment; returns the number after it.
  int64_t add_segment(const Line& line, Point from, Point to, int64_t dots_before) {
    const double dots = std::max(2 * std::abs(to.x - from.x), 4 * std::abs(to.y - from.y));
    const auto steps = std::max<int64_t>(1, std::llround(dots));
    for (int64_t i = 0; i <= steps; ++i) {
      if (line.dashed && !draws_markers_ && ((dots_before + i) / 2) % 2 == 1) continue;
      const double share = static_cast<double>(i) / static_cast<double>(steps);
      add_dot({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share}, line.color,
              line.series_index);
    }
    return dots_before + steps;
  }

  /// Draws a horizontal or vertical line with box-drawing characters. Positions are in cells and
  /// multiples of half a cell.
  void add_rule(Point from, Point to) {
    const bool is_horizontal = std::abs(to.x - from.x) > std::abs(to.y - from.y);
    const double begin = is_horizontal ? std::min(from.x, to.x) : std::min(from.y, to.y);
    const double end = is_horizontal ? std::max(from.x, to.x) : std::max(from.y, to.y);
    const double cross_position = is_horizontal ? from.y : from.x;
    for (auto cell_index = static_cast<int64_t>(std::floor(begin));
         static_cast<double>(cell_index) < end; ++cell_index) {
      const double middle = static_cast<double>(cell_index) + 0.5;
      Cell& cell = is_horizontal ? at(cell_index, static_cast<int64_t>(std::floor(cross_position)))
                                 : at(static_cast<int64_t>(std::floor(cross_position)), cell_index);
      if (begin <= middle - 0.25 && middle - 0.25 <= end)
        cell.line_sides |= is_horizontal ? kLeft : kUp;
      if (begin <= middle + 0.25 && middle + 0.25 <= end)
        cell.line_sides |= is_horizontal ? kRight : kDown;
    }
  }

  void add_arrow(const Line& line) {
    const Point tip = line.points.back(), from = line.points[line.points.size() - 2];
    const bool is_horizontal = std::abs(tip.x - from.x) > std::abs(tip.y - from.y);
    const bool is_forward = is_horizontal ? tip.x > from.x : tip.y > from.y;
    const char* head = is_horizontal ? (is_forward ? "▶" : "◀") : is_forward ? "▼" : "▲";
    const double tip_shift = is_forward ? -0.5 : 0.5;
    put(static_cast<int64_t>(std::floor(tip.x + (is_horizontal ? tip_shift : 0))),
        static_cast<int64_t>(std::floor(tip.y + (is_horizontal ? 0 : tip_shift))), head,
        line.color);
  }

  void draw_frame(const Box& box) {
    const double right = box.at.x + box.width - 1, bottom = box.at.y + box.height - 1;
    for (double y = box.at.y; y <= bottom; ++y)
      for (double x = box.at.x; x <= right; ++x) {
        if (box.dashed) break;
        Cell& cell = at(static_cast<int64_t>(x), static_cast<int64_t>(y));
        cell = Cell();
      }
    const double left_rule = box.at.x + 0.5, top_rule = box.at.y + 0.5, right_rule = right + 0.5,
                 bottom_rule = bottom + 0.5;
    add_rule({left_rule, top_rule}, {right_rule, top_rule});
    add_rule({left_rule, bottom_rule}, {right_rule, bottom_rule});
    add_rule({left_rule, top_rule}, {left_rule, bottom_rule});
    add_rule({right_rule, top_rule}, {right_rule, bottom_rule});
  }

  /// Draws a bar whose height is exact to an eighth of a cell. It fills the columns whose middle is
  /// inside of the bar.
  void draw_bar(const Box& box) {
    const double right = box.at.x + box.width, bottom = box.at.y + box.height;
    for (auto column = static_cast<int64_t>(std::floor(box.at.x)); column < right; ++column) {
      const double middle = static_cast<double>(column) + 0.5;
      if (middle < box.at.x || middle >= right) continue;
      for (auto row = static_cast<int64_t>(std::floor(box.at.y)); row < bottom; ++row)
        fill_part(column, row, box.at.y, bottom, *box.fill);
    }
  }

  void fill_part(int64_t column, int64_t row, double top, double bottom, Color color) {
    const auto cell_top = static_cast<double>(row);
    const double coverage = std::min(bottom, cell_top + 1) - std::max(top, cell_top);
    const auto covered_eighths = static_cast<int>(std::lround(8 * coverage));
    if (covered_eighths <= 0) return;
    const bool hangs_from_top = bottom < cell_top + 1 - 1e-9;
    if (!options_.unicode) return coverage >= 0.5 ? put(column, row, "#", color) : void();
    put(column, row,
        hangs_from_top && covered_eighths < 8 ? (covered_eighths >= 4 ? "▀" : "▔")
                                              : kEighths[covered_eighths],
        color);
  }

  static Color mean_color_of_part(const Bitmap& bitmap, int64_t row, int64_t column, int64_t rows,
                                  int64_t columns) {
    const int64_t top = row * bitmap.rows / rows, left = column * bitmap.columns / columns;
    return mean_of(bitmap, top, left, std::max(top + 1, (row + 1) * bitmap.rows / rows),
                   std::max(left + 1, (column + 1) * bitmap.columns / columns));
  }

  void put_halves(int64_t column, int64_t row, Color upper, Color lower) {
    if (options_.colors > 0 && options_.unicode) {
      put(column, row, "▀", upper);
      at(column, row).background_color = lower;
      return;
    }
    const double mean_brightness = (brightness(upper) + brightness(lower)) / 2;
    put(column, row, std::string(1, kShades[static_cast<int>(mean_brightness / 256 * 10)]), kInk);
  }

  static double brightness(Color c) { return 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue; }

  std::string text_of(const Cell& cell) const {
    if (!cell.letter.empty()) return options_.unicode ? cell.letter : ascii_of(cell.letter);
    if (cell.dots != 0) return braille(cell.dots);
    return options_.unicode ? kRules[cell.line_sides] : std::string(1, plain_rule(cell.line_sides));
  }

  static char plain_rule(uint8_t line_sides) {
    if (line_sides == 0) return ' ';
    if ((line_sides & (kLeft | kRight)) == 0) return '|';
    return (line_sides & (kUp | kDown)) == 0 ? '-' : '+';
  }

  static std::string ascii_of(const std::string& letter) {
    if (letter.size() == 1) return letter;
    if (letter == "…") return ".";
    if (letter == "▼") return "v";
    if (letter == "▶") return ">";
    if (letter == "▲") return "^";
    return letter == "◀" ? "<" : "?";
  }

  /// The escape sequences for the colours of a cell.
  std::string color_sequences(const Cell& cell) const {
    if (options_.colors == 0) return "";
    return (cell.bold ? "\033[1m" : "") +
           (cell.foreground ? color_code(*cell.foreground, false, options_.colors) : "") +
           (cell.background_color ? color_code(*cell.background_color, true, options_.colors) : "");
  }

  /// The text of a row, without trailing blanks.
  std::string line_text(int64_t row) const {
    std::string text, last_codes;
    size_t end = 0;
    for (int64_t column = 0; column < columns_; ++column) {
      const Cell& cell = cells_[static_cast<size_t>(row * columns_ + column)];
      const std::string letter = text_of(cell);
      const bool is_blank = letter == " " && !cell.background_color;
      const std::string cell_codes = is_blank ? last_codes : color_sequences(cell);
      if (cell_codes != last_codes) text += (last_codes.empty() ? "" : "\033[0m") + cell_codes;
      last_codes = cell_codes;
      text += letter;
      if (!is_blank) end = text.size();
    }
    text.resize(end);
    return last_codes.empty() ? text : text + "\033[0m";
  }

  int64_t columns_, rows_;
  std::vector<Cell> cells_;
  Cell outside_cell_;
  CellOptions options_;
  bool draws_markers_ = false;  ///< whether curves are drawn as markers instead of Braille dots
};

}  // namespace

std::string cells_of(const Scene& scene, const CellOptions& options) {
  CellCanvas canvas(scene, options);
  for (const Element& element : scene.elements)
    std::visit([&](const auto& shape) { canvas.draw(shape); }, element);
  return canvas.text();
}

}  // namespace crescent::pictures
