// Writes JSON as Python's json.dumps does, and the abbreviated JSON of messages.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/json_depth.h"
#include "base/text.h"
#include "crescent/base/strict_json.h"
#include "crescent/base/value.h"

namespace crescent {
namespace {

struct JsonStyle {
  int indent = -1;
  bool is_strict = false;     ///< writes null for numbers that are not finite
  bool for_messages = false;  ///< writes objects as their class names, keeps non-ASCII, never fails
  size_t max_bytes = std::string::npos;  ///< writing stops soon after this many bytes
};

class Writer {
 public:
  explicit Writer(JsonStyle style) : style_(style) {}

  std::string write(const Value& value) {
    put_value(value, 0);
    return std::move(out_);
  }

 private:
  void put_value(const Value& value, int depth) {
    switch (value.kind()) {
      case Value::Kind::null:
        out_ += "null";
        break;
      case Value::Kind::boolean:
        out_ += to_text(value.as_bool());
        break;
      case Value::Kind::integer:
        out_ += to_text(value.as_int());
        break;
      case Value::Kind::real:
        put_real(value.as_float());
        break;
      case Value::Kind::string:
        put_string(value.as_string());
        break;
      case Value::Kind::list:
        put_list(value.as_list(), depth);
        break;
      case Value::Kind::dict:
        put_dict(value.as_dict(), depth);
        break;
      case Value::Kind::object:
        put_object(*value.as_object());
        break;
    }
  }

  void put_real(double x) {
    if (style_.is_strict && !std::isfinite(x)) {
      out_ += "null";
    } else if (std::isnan(x)) {
      out_ += "NaN";
    } else if (std::isinf(x)) {
      out_ += x < 0 ? "-Infinity" : "Infinity";
    } else {
      std::string digits = to_text(x);
      const bool looks_whole = digits.find_first_of(".e") == std::string::npos;
      out_ += looks_whole ? digits + ".0" : digits;
    }
  }

  void put_object(const Object& object) {
    if (!style_.for_messages)
      fail("a ", object.class_name(), " object cannot be written as JSON; write its configuration");
    out_ += "<" + object.class_name() + ">";
  }

  void put_string(std::string_view text) {
    out_ += '"';
    while (!text.empty() && !is_full()) {
      size_t length = utf8_length(text);
      if (length == 0 && !style_.for_messages)
        fail("a string with bytes that are not UTF-8 cannot be written as JSON");
      put_character(text.substr(0, length),
                    length == 0 ? 0xFFFD : code_point(text.substr(0, length)));
      text.remove_prefix(std::max<size_t>(length, 1));
    }
    out_ += '"';
  }

  void put_character(std::string_view bytes, uint32_t code) {
    static constexpr std::string_view kEscapedCharacters = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    if (code < 0x80 && kEscapedCharacters.find(static_cast<char>(code)) != std::string_view::npos) {
      out_ += '\\';
      out_ += kLetters[kEscapedCharacters.find(static_cast<char>(code))];
    } else if (code >= 0x20 &&
               (code < 0x7F || (style_.for_messages && code > 0x9F && !bytes.empty()))) {
      out_ += bytes;
    } else if (code >= 0x10000) {
      put_unicode_escape(0xD800 + ((code - 0x10000) >> 10));
      put_unicode_escape(0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      put_unicode_escape(code);
    }
  }

  void put_unicode_escape(uint32_t unit) {
    char text[16];
    std::snprintf(text, sizeof text, "\\u%04x", unit);
    out_ += text;
  }

  static uint32_t code_point(std::string_view bytes) {
    static constexpr uint32_t kFirstBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = static_cast<unsigned char>(bytes[0]) & kFirstBits[bytes.size()];
    for (char byte : bytes.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3F);
    return code;
  }

  void put_list(const List& list, int depth) {
    check_depth(depth);
    if (list.empty()) return void(out_ += "[]");
    out_ += '[';
    bool is_first = true;
    for (const Value& item : list) {
      if (is_full()) break;
      put_separator(std::exchange(is_first, false), depth + 1);
      put_value(item, depth + 1);
    }
    put_closing_bracket(']', depth);
  }

  void put_dict(const Dict& dict, int depth) {
    check_depth(depth);
    if (dict.empty()) return void(out_ += "{}");
    out_ += '{';
    bool is_first = true;
    for (const DictEntry& entry : dict) {
      if (is_full()) break;
      put_separator(std::exchange(is_first, false), depth + 1);
      put_string(entry.key);
      out_ += ": ";
      put_value(entry.value, depth + 1);
    }
    put_closing_bracket('}', depth);
  }

  /// Fails on nesting that the parser would refuse.
  void check_depth(int depth) const {
    if (!style_.for_messages && depth >= kMaxJsonDepth)
      fail("lists and dictionaries nested more than ", kMaxJsonDepth,
           " deep cannot be written as JSON");
  }

  void put_separator(bool is_first, int depth) {
    if (!is_first) out_ += style_.indent < 0 ? ", " : ",";
    new_line(depth);
  }
  void put_closing_bracket(char bracket, int depth) {
    new_line(depth);
    out_ += bracket;
  }
  void new_line(int depth) {
    if (style_.indent >= 0)
      out_.append("\n").append(static_cast<size_t>(depth) * style_.indent, ' ');
  }
  bool is_full() const { return out_.size() > style_.max_bytes; }

  JsonStyle style_;
  std::string out_;
};

/// Cuts the text between characters to at most `max_bytes` bytes plus "...".
std::string shortened_text(std::string text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

constexpr size_t kMaxMessageBytes = 60;

}  // namespace

std::string to_json(const Value& value, int indent) {
  return Writer({.indent = indent}).write(value);
}

std::string to_strict_json(const Value& value) { return Writer({.is_strict = true}).write(value); }

std::string to_text(const Value& value) {
  return shortened_text(Writer({.for_messages = true, .max_bytes = kMaxMessageBytes}).write(value),
                        kMaxMessageBytes);
}

}  // namespace crescent
