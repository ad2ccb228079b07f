// How an entry is laid out: lines with their prompts, broken where the terminal ends.
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

/// What is to be seen of an entry.
struct View {
  const std::string& text;
  size_t cursor;
  std::vector<Style> styles;   ///< one for each byte of the text; may be shorter
  std::string_view hint;       ///< behind the text
  std::vector<CellRow> below;  ///< rows below the text
};

/// Lays out as much as the terminal has room for; `top`, the first row that is seen, follows the
/// cursor.
Frame lay_out(const View& view, const Prompts& prompts, Size size, size_t& top);

}  // namespace crescent::editor
