#include "base/text.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace crescent {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a word of a class name starts at index i: at a capital before a lower-case letter or
/// digit, or after a lower-case letter.
bool starts_word(std::string_view name, size_t i) {
  if (i == 0 || !is_upper(name[i])) return false;
  bool precedes_lower_case =
      i + 1 < name.size() && (is_lower(name[i + 1]) || is_digit(name[i + 1]));
  return precedes_lower_case || is_lower(name[i - 1]);
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower_text(text);
  for (char& c : lower_text)
    if (is_upper(c)) c += 'a' - 'A';
  return lower_text;
}

std::string snake_case(std::string_view class_name) {
  // Keras puts "package>" before the name of a registered class, which is dropped.
  class_name.remove_prefix(class_name.rfind('>') + 1);
  std::string snake_name;
  for (size_t i = 0; i < class_name.size(); ++i) {
    if (starts_word(class_name, i) && snake_name.back() != '_') snake_name += '_';
    snake_name += class_name[i];
  }
  return lower_case(snake_name);
}

std::string demangled_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return name ? name.get() : type.name();
}

size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto is_continuation = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first_byte = byte(0), second_byte = byte(1);
  if (text.empty()) return 0;
  if (first_byte < 0x80) return 1;
  if (first_byte >= 0xC2 && first_byte < 0xE0) return is_continuation(1) ? 2 : 0;
  if (first_byte >= 0xE0 && first_byte < 0xF0) {
    const bool is_overlong = first_byte == 0xE0 && second_byte < 0xA0,
               is_surrogate = first_byte == 0xED && second_byte >= 0xA0;
    return is_continuation(1) && is_continuation(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first_byte >= 0xF0 && first_byte < 0xF5) {
    const bool is_overlong = first_byte == 0xF0 && second_byte < 0x90,
               is_too_large = first_byte == 0xF4 && second_byte >= 0x90;
    return is_continuation(1) && is_continuation(2) && is_continuation(3) && !is_overlong &&
                   !is_too_large
               ? 4
               : 0;
  }
  return 0;
}

}  // namespace crescent
