// The styles in which parts of a text are shown, and their colours on a terminal.
#pragma once
#include <string_view>

namespace crescent::editor {

enum class Style : unsigned char {
  plain,
  keyword,
  number,
  string,
  comment,
  matched,   ///< the bracket at the cursor and its partner
  unclosed,  ///< a bracket without a partner
  found,     ///< the text that the search found
  faint,     ///< hints and help texts
  chosen     ///< the selected row of the menu
};

/// The escape sequence that begins a style. With has_colours = false, only styles in reverse video
/// have one.
std::string_view sequence_of(Style style, bool has_colours);

}  // namespace crescent::editor
