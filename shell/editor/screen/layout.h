// The layout of an entry: lines with their prompts, broken at the width of the terminal.
#pragma once
#include <string>
#include <vector>

#include "screen.h"

namespace crescent::editor {

/// The size of a terminal in cells.
struct Size {
  int rows = 24, columns = 80;
};

struct Prompts {
  std::string first = "> ", next = ">> ";
};

/// What the editor shows of an entry: the text, the cursor, styles, the hint, and rows below the
/// text.
struct View {
  const std::string& text;
  size_t cursor;
  std::vector<Style> styles;  ///< one style for each byte of the text; bytes without a style are
                              ///< plain
  std::string_view hint;      ///< the hint that is shown behind the text
  std::vector<CellRow> rows_below;  ///< rows below the text
};

/// Lays out the text with its prompts in at most as many rows as the terminal has. Changes
/// `first_visible_row`, the index of the first visible row, so that the cursor is visible.
Frame lay_out(const View& view, const Prompts& prompts, Size size, size_t& first_visible_row);

}  // namespace crescent::editor
