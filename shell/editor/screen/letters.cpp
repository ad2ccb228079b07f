#include "letters.h"

#include <locale.h>

#include <algorithm>
#include <cwchar>
#include <utility>

#include "crescent/base/error.h"
#include "crescent/system/terminal.h"

namespace crescent::editor {
namespace {

constexpr int kTabStop = 4;
constexpr wchar_t kJoiner = 0x200d;

/// While an object of this class lives, the C library decodes text as UTF-8, whatever the user's
/// locale.
class Utf8Locale {
 public:
  Utf8Locale() : previous_locale_(uselocale(utf8())) {}
  ~Utf8Locale() { uselocale(previous_locale_); }
  Utf8Locale(const Utf8Locale&) = delete;

 private:
  static locale_t utf8() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale ? locale : LC_GLOBAL_LOCALE;
  }
  locale_t previous_locale_;
};

struct Character {
  wchar_t code = 0;
  size_t length = 1;
  bool is_valid = false;
};

Character character_at(std::string_view text, size_t offset) {
  const auto first_byte = static_cast<unsigned char>(text[offset]);
  if (first_byte < 0x80) return {first_byte, 1, true};
  Character character;
  std::mbstate_t state{};
  const size_t length = std::mbrtowc(&character.code, text.data() + offset,
                                     std::min<size_t>(text.size() - offset, 4), &state);
  if (length > 4) return {};
  return {character.code, length, true};
}

bool is_plain(std::string_view text, size_t offset) {
  return offset >= text.size() || static_cast<unsigned char>(text[offset]) < 0x80;
}

/// True for a combining character, which is drawn into the cell of the character before it.
bool is_combining(const Character& next) {
  return next.is_valid && next.code >= 0x80 && wcwidth(next.code) == 0;
}

}  // namespace

size_t next_letter(std::string_view text, size_t offset) {
  if (offset >= text.size()) return text.size();
  if (is_plain(text, offset) && is_plain(text, offset + 1)) return offset + 1;
  const Utf8Locale locale;
  Character previous = character_at(text, offset);
  for (offset += previous.length; offset < text.size(); offset += previous.length) {
    const Character next = character_at(text, offset);
    const bool is_joined = previous.is_valid && previous.code == kJoiner && next.code >= 0x80;
    if (previous.code < 0x20 || !(is_combining(next) || is_joined)) break;
    previous = next;
  }
  return offset;
}

size_t previous_letter(std::string_view text, size_t offset) {
  if (offset == 0) return 0;
  if (is_plain(text, offset - 1)) return offset - 1;
  size_t start = text.rfind('\n', offset - 1);
  start = start == text.npos ? 0 : start + 1;
  for (size_t end; (end = next_letter(text, start)) < offset;) start = end;
  return start;
}

size_t whole_characters(std::string_view bytes) {
  const size_t least_end = bytes.size() - std::min<size_t>(bytes.size(), 3);
  for (size_t end = bytes.size(); end > least_end; --end) {
    const auto byte = static_cast<unsigned char>(bytes[end - 1]);
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return end - 1 + length > bytes.size() ? end - 1 : bytes.size();
  }
  return bytes.size();
}

Glyph glyph_of(std::string_view letter, int column) {
  if (letter == "\t") {
    const int width = kTabStop - column % kTabStop;
    return {std::string(static_cast<size_t>(width), ' '), width};
  }
  if (letter.size() == 1 && letter[0] >= 0x20 && letter[0] < 0x7f) return {std::string(letter), 1};
  std::string shown_text = printable(letter);
  const auto width = static_cast<int>(display_width(shown_text));
  return {std::move(shown_text), width};
}

int width_of(std::string_view letter, int column) {
  const bool is_ascii = letter.size() == 1 && letter[0] >= 0x20 && letter[0] < 0x7f;
  return is_ascii ? 1 : glyph_of(letter, column).width;
}

}  // namespace crescent::editor
