// The styles of parts of a text, from which their colours on the terminal follow.
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
  found,     ///< the match of the search
  faint,     ///< hints, help
  chosen     ///< the selected row of the menu
};

/// The escape sequence that begins a style; without colours only styles in reverse video have one.
std::string_view sequence_of(Style style, bool colours);

}  // namespace crescent::editor
