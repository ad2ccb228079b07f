// Letters of UTF-8 text as a terminal shows them: where they end, and how wide they are.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace crescent::editor {

/// The end of the letter that begins at `offset`: a character with the marks that combine with it.
size_t next_letter(std::string_view text, size_t offset);
/// The beginning of the letter that ends at `offset`.
size_t previous_letter(std::string_view text, size_t offset);
/// The length of `bytes` without an incomplete character at its end.
size_t whole_characters(std::string_view bytes);

/// The text that is sent to a terminal to show a letter, and its width in cells.
struct Glyph {
  std::string shown_text;
  int width = 1;
};
/// The glyph of a letter. Control characters and bytes that are not UTF-8 are escaped; a tab
/// extends to the next tab stop.
Glyph glyph_of(std::string_view letter, int column);
/// The width of glyph_of(letter, column).
int width_of(std::string_view letter, int column);

}  // namespace crescent::editor
