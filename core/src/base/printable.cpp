// Escapes text for the terminal: a name from a file must not move its cursor or change its colours.
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "base/text.h"
#include "crescent/base/error.h"

namespace crescent {
namespace {

/// Decodes a single character from its valid UTF-8 bytes.
uint32_t code_point(std::string_view bytes) {
  uint32_t code = static_cast<unsigned char>(bytes[0]);
  if (bytes.size() > 1) code &= 0xffu >> (bytes.size() + 1);
  for (size_t i = 1; i < bytes.size(); ++i)
    code = code << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3fu);
  return code;
}

/// Whether the character is a control character of ASCII or Unicode, or changes the direction of
/// text.
bool is_control(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> kControlRanges[] = {
      {0x00, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
  for (const auto& [first, last] : kControlRanges)
    if (code >= first && code <= last) return true;
  return false;
}

std::string escape_sequence(const char* format, uint32_t code) {
  char text[16];
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(code));
  return text;
}

/// Escapes control characters except those in `allowed_controls`.
std::string escape_controls(std::string_view text, std::string_view allowed_controls) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t valid_length = utf8_length(text);
    const std::string_view character = text.substr(0, valid_length == 0 ? 1 : valid_length);
    const bool is_kept = allowed_controls.find(text[0]) != allowed_controls.npos;
    if (valid_length == 0)
      result += escape_sequence("\\x%02x", static_cast<unsigned char>(text[0]));
    else if (const uint32_t code = code_point(character); is_kept || !is_control(code))
      result += character;
    else
      result += escape_sequence(code < 0x80 ? "\\x%02x" : "\\u%04x", code);
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escape_controls(text, "\n\t"); }
std::string on_one_line(std::string_view text) { return escape_controls(text, ""); }

size_t character_count(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

std::string cut_or_padded(std::string_view text, size_t characters) {
  size_t end = 0;
  for (size_t count = 0; count < characters && end < text.size(); ++count)
    end += std::max<size_t>(1, utf8_length(text.substr(end)));
  const std::string_view cut_text = text.substr(0, end);
  return std::string(cut_text) + std::string(characters - character_count(cut_text), ' ');
}

}  // namespace crescent
