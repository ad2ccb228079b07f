// A parser of JSON as Python writes it. Input is untrusted: depth is bounded, duplicate keys are
// errors, and the time is linear in the length of the text.
#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_set>

#include "base/json_depth.h"
#include "base/text.h"
#include "crescent/base/value.h"

namespace crescent {
namespace {

struct Literal {
  std::string_view text;
  Value value;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Value parse() {
    Value value = parse_value();
    skip_space();
    if (position_ < text_.size()) refuse("text after the end of the value");
    return value;
  }

 private:
  Value parse_value() {
    skip_space();
    switch (peek()) {
      case '{':
        return parse_dict();
      case '[':
        return parse_list();
      case '"':
        return parse_string();
      default:
        return parse_word_or_number();
    }
  }

  Value parse_list() {
    List list;
    open_container();
    if (!consume(']')) {
      do list.push_back(parse_value());
      while (consume(','));
      expect(']', "',' or ']'");
    }
    --depth_;
    return list;
  }

  Value parse_dict() {
    std::vector<DictEntry> entries;
    std::unordered_set<std::string> keys;
    open_container();
    if (!consume('}')) {
      do {
        skip_space();
        if (peek() != '"') refuse("expected a key in double quotes");
        const size_t key_position = position_;
        std::string key = parse_string();
        if (!is_new_key(key, entries, keys))
          position_ = key_position, refuse("the key \"", key, "\" is there twice");
        expect(':', "':' after the key");
        entries.push_back({std::move(key), parse_value()});
      } while (consume(','));
      expect('}', "',' or '}'");
    }
    --depth_;
    return Dict::from(std::move(entries));
  }

  /// Whether no entry has this key. As long as there are few entries, their keys are compared one
  /// by one. When there are more, all keys are put into the set `keys`, which is searched instead.
  static bool is_new_key(const std::string& key, const std::vector<DictEntry>& entries,
                         std::unordered_set<std::string>& keys) {
    constexpr size_t kMaxComparedKeys = 16;
    if (entries.size() < kMaxComparedKeys)
      return std::ranges::none_of(entries, [&](const DictEntry& e) { return e.key == key; });
    if (keys.empty())
      for (const DictEntry& entry : entries) keys.insert(entry.key);
    return keys.insert(key).second;
  }

  std::string parse_string() {
    std::string unescaped_text;
    ++position_;
    while (true) {
      append_plain_characters(unescaped_text);
      const unsigned char c = peek();
      if (position_ >= text_.size()) refuse("the string does not end");
      if (c == '"') break;
      if (c < 0x20) refuse("a control character in a string");
      if (c == '\\') {
        parse_escape(unescaped_text);
      } else {
        const size_t length = utf8_length(text_.substr(position_));
        if (length == 0) refuse("bytes that are not UTF-8");
        unescaped_text.append(text_, position_, length);
        position_ += length;
      }
    }
    ++position_;
    return unescaped_text;
  }

  /// Appends the characters up to the next quote, escape, control character or non-ASCII character.
  void append_plain_characters(std::string& out) {
    const size_t begin = position_;
    auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
    while (position_ < text_.size() && is_plain(text_[position_])) ++position_;
    out.append(text_, begin, position_ - begin);
  }

  void parse_escape(std::string& out) {
    static constexpr std::string_view kEscapeLetters = "\"\\/bfnrt",
                                      kEscapedCharacters = "\"\\/\b\f\n\r\t";
    const char letter = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
    if (letter == 'u') return append_utf8(out, parse_code_point());
    const size_t letter_index = letter ? kEscapeLetters.find(letter) : std::string_view::npos;
    if (letter_index == std::string_view::npos) refuse("an unknown escape in a string");
    out += kEscapedCharacters[letter_index];
    position_ += 2;
  }

  uint32_t parse_code_point() {
    const uint32_t unit = parse_utf16_unit();
    if (unit < 0xD800 || unit > 0xDFFF) return unit;
    if (unit < 0xDC00 && text_.substr(position_, 2) == "\\u") {
      const uint32_t low_surrogate = parse_utf16_unit();
      if (low_surrogate >= 0xDC00 && low_surrogate <= 0xDFFF)
        return 0x10000 + ((unit - 0xD800) << 10) + (low_surrogate - 0xDC00);
    }
    refuse("half of a surrogate pair in a string");
  }

  /// Parses \uXXXX, where the current character is the backslash.
  uint32_t parse_utf16_unit() {
    const std::string_view digits = text_.substr(std::min(position_ + 2, text_.size()), 4);
    uint32_t unit = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
    if (digits.size() != 4 || end != digits.data() + 4)
      refuse("expected four hexadecimal digits after \\u");
    position_ += 6;
    return unit;
  }

  static void append_utf8(std::string& out, uint32_t code) {
    auto append_continuation_byte = [&](int shift) {
      out += static_cast<char>(0x80 | (code >> shift & 0x3F));
    };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | code >> 6), append_continuation_byte(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xE0 | code >> 12), append_continuation_byte(6),
          append_continuation_byte(0);
    } else {
      out += static_cast<char>(0xF0 | code >> 18), append_continuation_byte(12),
          append_continuation_byte(6), append_continuation_byte(0);
    }
  }

  Value parse_word_or_number() {
    static const Literal kWords[] = {{"null", {}},
                                     {"true", true},
                                     {"false", false},
                                     {"NaN", std::numeric_limits<double>::quiet_NaN()},
                                     {"Infinity", std::numeric_limits<double>::infinity()},
                                     {"-Infinity", -std::numeric_limits<double>::infinity()}};
    const size_t end = text_.find_first_of(" \t\r\n,:]}[{\"", position_);
    const std::string_view word =
        text_.substr(position_, end == std::string_view::npos ? end : end - position_);
    if (word.empty()) refuse("expected a value");
    for (const Literal& literal : kWords)
      if (word == literal.text) return position_ += word.size(), literal.value;
    if (!is_number(word)) refuse("expected a value, got ", Value(word));
    Value value = parse_number(word);
    position_ += word.size();
    return value;
  }

  /// Whether the text is a number by the grammar of JSON:
  /// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
  static bool is_number(std::string_view s) {
    size_t i = 0;
    auto skip_digits = [&] {
      const size_t start = i;
      while (i < s.size() && s[i] >= '0' && s[i] <= '9') ++i;
      return i - start;
    };
    auto skip_one_of = [&](std::string_view characters) {
      return i < s.size() && characters.find(s[i]) != std::string_view::npos && ++i;
    };
    skip_one_of("-");
    const bool starts_with_zero = i < s.size() && s[i] == '0';
    const size_t whole_digit_count = skip_digits();
    if (whole_digit_count == 0 || (starts_with_zero && whole_digit_count > 1)) return false;
    if (skip_one_of(".") && skip_digits() == 0) return false;
    if (skip_one_of("eE") && (skip_one_of("+-"), skip_digits() == 0)) return false;
    return i == s.size();
  }

  /// Parses a number; integers that do not fit into 64 bits become floats.
  Value parse_number(std::string_view digits) {
    const char *first = digits.data(), *last = first + digits.size();
    int64_t integer = 0;
    if (digits.find_first_of(".eE") == std::string_view::npos &&
        std::from_chars(first, last, integer).ec == std::errc())
      return integer;
    double real_number = 0;
    if (std::from_chars(first, last, real_number).ec != std::errc())
      refuse("the number ", Value(digits), " is out of range");
    return real_number;
  }

  void open_container() {
    if (++depth_ > kMaxJsonDepth)
      refuse("lists and dictionaries are nested more than ", kMaxJsonDepth, " deep");
    ++position_;
  }
  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  void skip_space() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
  }
  bool consume(char c) {
    skip_space();
    return peek() == c && position_ < text_.size() && ++position_;
  }
  void expect(char c, const char* what) {
    if (!consume(c)) refuse("expected ", what);
  }

  template <class... Pieces>
  [[noreturn]] void refuse(const Pieces&... pieces) const {
    const std::string_view text_before = text_.substr(0, position_);
    const size_t line_start = text_before.rfind('\n') + 1;
    size_t line = 1;
    for (char c : text_before) line += c == '\n';
    fail("JSON, line ", line, ", column ", position_ - line_start + 1, ": ", pieces...,
         position_ >= text_.size() ? " (the text ends here)" : "");
  }

  std::string_view text_;
  size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

Value parse_json(std::string_view text) { return Parser(text).parse(); }

}  // namespace crescent
