// What parts of a text are, for their colours on the terminal.
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
  found,     ///< what the search looks for
  faint,     ///< hints, help
  chosen     ///< the row of the menu that the cursor is on
};

/// The escape sequence that begins a style; without colours only what is reversed stands out.
std::string_view sequence_of(Style style, bool colours);

}  // namespace crescent::editor
