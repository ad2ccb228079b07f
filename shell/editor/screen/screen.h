// Keeps track of the rows shown on the terminal, and makes the shortest output that changes them to
// other rows.
#pragma once
#include <string>
#include <vector>

#include "style.h"

namespace crescent::editor {

struct Cell {
  std::string shown_text;
  int width = 1;
  Style style = Style::plain;
  bool operator==(const Cell&) const = default;
};
using CellRow = std::vector<Cell>;
int width_of(const CellRow& row);
/// Appends the letters of `text`, as many as fit into `columns`.
void append(CellRow& row, std::string_view text, Style style, int columns);

/// The rows to show, and the row and column of the cursor in them.
struct Frame {
  std::vector<CellRow> rows;
  size_t cursor_row = 0;
  int cursor_column = 0;
};

/// The rows shown on the terminal, counted from the row where the cursor was at first. The output
/// uses only relative cursor movements, erasing and ANSI colours.
class Screen {
 public:
  explicit Screen(bool has_colours) : has_colours_(has_colours) {}
  /// Returns the output that changes the rows on the screen to those of `frame`.
  std::string show(const Frame& frame);
  /// Returns the output that moves the cursor below all rows; afterwards the rows no longer belong
  /// to the screen.
  std::string leave();
  /// Returns the output that erases all rows after the width of the terminal has changed to
  /// `columns`. `breaks_rows`: whether the terminal breaks rows that are wider than that.
  std::string erase(int columns, bool breaks_rows);
  /// Forgets all rows; called after the terminal was cleared.
  void forget();

 private:
  void move(size_t row, int column);
  void write(const CellRow& row, size_t first_cell);
  void change(size_t index, const CellRow& row);

  bool has_colours_;
  std::vector<CellRow> rows_;
  size_t cursor_row_ = 0;
  int cursor_column_ = 0;
  std::string output_;
};

}  // namespace crescent::editor
