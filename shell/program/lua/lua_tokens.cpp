#include "lua_tokens.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace crescent::program {
namespace {

using editor::Style;
using Kind = LuaToken::Kind;

const std::set<std::string_view> kKeywords = {
    "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
    "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
    "repeat",   "return", "then", "true", "until",  "while"};

constexpr size_t kLongestKeyword = 8;

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

char at_or_zero(std::string_view text, size_t offset) {
  return offset < text.size() ? text[offset] : '\0';
}

/// The level of the long bracket that begins at `offset`: 1 for [[, 2 for [=[, ...; 0 if there is
/// none.
size_t long_bracket(std::string_view text, size_t offset) {
  if (at_or_zero(text, offset) != '[') return 0;
  size_t end = offset + 1;
  while (at_or_zero(text, end) == '=') ++end;
  return at_or_zero(text, end) == '[' ? end - offset : 0;
}

LuaToken long_token(Kind kind, std::string_view text, size_t begin, size_t bracket_begin,
                    size_t level) {
  const std::string closing_bracket = "]" + std::string(level - 1, '=') + "]";
  const size_t end = text.find(closing_bracket, bracket_begin + level + 1);
  if (end == text.npos) return {kind, begin, text.size(), false};
  return {kind, begin, end + closing_bracket.size()};
}

/// A token of a newline, or of blanks within a line.
LuaToken blank_at(std::string_view text, size_t offset) {
  size_t end = offset + 1;
  while (text[offset] != '\n' && end < text.size() && text[end] != '\n' && is_space(text[end]))
    ++end;
  return {Kind::blank, offset, end};
}

LuaToken comment_at(std::string_view text, size_t offset) {
  if (const size_t level = long_bracket(text, offset + 2))
    return long_token(Kind::comment, text, offset, offset + 2, level);
  return {Kind::comment, offset, std::min(text.find('\n', offset), text.size())};
}

/// The token of a quoted string. Without a closing quote it ends at the end of the line, unless the
/// newline is escaped.
LuaToken string_at(std::string_view text, size_t offset) {
  size_t end = offset + 1;
  while (end < text.size() && text[end] != text[offset] && text[end] != '\n') {
    const bool skips_blanks = text.substr(end, 2) == "\\z";
    end = std::min(end + (text[end] == '\\' ? 2 : 1), text.size());
    while (skips_blanks && end < text.size() && is_space(text[end])) ++end;
  }
  const bool is_closed = at_or_zero(text, end) == text[offset];
  return {Kind::string, offset, is_closed ? end + 1 : end, is_closed};
}

/// Whether a number begins at `offset`. The second point of `x..5` begins none, because it belongs
/// to the operator.
bool begins_number(std::string_view text, size_t offset) {
  if (is_digit(text[offset])) return true;
  return text[offset] == '.' && is_digit(at_or_zero(text, offset + 1)) &&
         (offset == 0 || text[offset - 1] != '.');
}

LuaToken number_at(std::string_view text, size_t offset) {
  const bool is_hexadecimal = text[offset] == '0' && (at_or_zero(text, offset + 1) | 0x20) == 'x';
  const char exponent = is_hexadecimal ? 'p' : 'e';
  size_t end = offset;
  while (end < text.size() && (is_letter(text[end]) || text[end] == '.')) {
    const bool may_have_sign = (text[end] | 0x20) == exponent;
    ++end;
    if (may_have_sign && (at_or_zero(text, end) == '-' || at_or_zero(text, end) == '+')) ++end;
  }
  return {Kind::number, offset, end};
}

LuaToken word_at(std::string_view text, size_t offset) {
  size_t end = offset;
  while (end < text.size() && is_letter(text[end])) ++end;
  if (end - offset > kLongestKeyword) return {Kind::name, offset, end};
  return {kKeywords.count(text.substr(offset, end - offset)) ? Kind::keyword : Kind::name, offset,
          end};
}

bool is_opening(char c) { return c == '(' || c == '[' || c == '{'; }
bool is_closing(char c) { return c == ')' || c == ']' || c == '}'; }
char closing_bracket_of(char c) { return c == '(' ? ')' : c == '[' ? ']' : '}'; }

bool is_bracket(std::string_view text, const LuaToken& token) {
  return token.kind == Kind::symbol &&
         (is_opening(text[token.begin]) || is_closing(text[token.begin]));
}

Style style_of(Kind kind) {
  switch (kind) {
    case Kind::keyword:
      return Style::keyword;
    case Kind::number:
      return Style::number;
    case Kind::string:
      return Style::string;
    case Kind::comment:
      return Style::comment;
    default:
      return Style::plain;
  }
}

bool may_end_statement(std::string_view text, const LuaToken& token) {
  if (token.kind == Kind::symbol) return is_closing(text[token.begin]);
  if (token.kind != Kind::keyword) return true;
  const std::string_view word = text.substr(token.begin, token.end - token.begin);
  return word == "end" || word == "true" || word == "false" || word == "nil" || word == "break";
}

/// Finds the pairs of brackets in a text and sets the styles of unmatched brackets and of the pair
/// at the cursor.
class BracketStyles {
 public:
  BracketStyles(std::string_view text, size_t cursor, std::vector<Style>& styles)
      : text_(text), cursor_(cursor), styles_(styles) {}

  void add_bracket(size_t offset) {
    if (is_opening(text_[offset])) return open_brackets_.push_back(offset);
    if (open_brackets_.empty() ||
        closing_bracket_of(text_[open_brackets_.back()]) != text_[offset]) {
      styles_[offset] = Style::unclosed;
      return;
    }
    if (is_at_cursor(offset) || is_at_cursor(open_brackets_.back()))
      styles_[offset] = styles_[open_brackets_.back()] = Style::matched;
    open_brackets_.pop_back();
  }
  void mark_unclosed_brackets() {
    for (const size_t offset : open_brackets_) styles_[offset] = Style::unclosed;
  }

 private:
  bool is_at_cursor(size_t offset) const {
    return cursor_ < text_.size() ? offset == cursor_ || offset + 1 == cursor_
                                  : offset + 1 == cursor_;
  }
  std::string_view text_;
  size_t cursor_;
  std::vector<Style>& styles_;
  std::vector<size_t> open_brackets_;
};

}  // namespace

LuaToken lua_token_at(std::string_view text, size_t offset) {
  const char c = text[offset];
  if (is_space(c)) return blank_at(text, offset);
  if (text.substr(offset, 2) == "--") return comment_at(text, offset);
  if (c == '"' || c == '\'') return string_at(text, offset);
  if (const size_t level = long_bracket(text, offset))
    return long_token(Kind::string, text, offset, offset, level);
  if (begins_number(text, offset)) return number_at(text, offset);
  if (is_letter(c)) return word_at(text, offset);
  return {Kind::symbol, offset, offset + 1};
}

int lua_depth_change(std::string_view text, const LuaToken& token) {
  const std::string_view word = text.substr(token.begin, token.end - token.begin);
  if (token.kind == Kind::symbol) return is_opening(word[0]) ? 1 : is_closing(word[0]) ? -1 : 0;
  if (token.kind != Kind::keyword) return 0;
  for (const char* opening : {"function", "do", "then", "repeat"})
    if (word == opening) return 1;
  for (const char* closing : {"end", "until", "elseif"})
    if (word == closing) return -1;
  return 0;
}

std::vector<Style> lua_styles(std::string_view text, size_t cursor) {
  std::vector<Style> styles(text.size(), Style::plain);
  BracketStyles brackets(text, cursor, styles);
  for (size_t offset = 0; offset < text.size();) {
    const LuaToken token = lua_token_at(text, offset);
    if (const Style style = style_of(token.kind); style != Style::plain)
      std::fill(styles.begin() + static_cast<std::ptrdiff_t>(offset),
                styles.begin() + static_cast<std::ptrdiff_t>(token.end), style);
    if (is_bracket(text, token)) brackets.add_bracket(offset);
    offset = token.end;
  }
  brackets.mark_unclosed_brackets();
  return styles;
}

size_t open_lua_string(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    const LuaToken token = lua_token_at(text, offset);
    if (token.kind == Kind::string && !token.is_closed && token.end == text.size())
      return offset + std::max<size_t>(1, long_bracket(text, offset) + 1);
    offset = token.end;
  }
  return text.npos;
}

std::vector<size_t> lua_statements(std::string_view text, bool is_valid) {
  std::vector<size_t> starts;
  int depth = 0;
  bool begins_statement = false;  // a statement begins here
  bool may_begin = false;         // a statement that starts with a name may begin here
  for (size_t offset = 0; offset < text.size();) {
    const LuaToken token = lua_token_at(text, offset);
    const bool is_code = token.kind != Kind::blank && token.kind != Kind::comment;
    const bool is_name = token.kind == Kind::name && may_begin;
    if (depth == 0 && is_code && (begins_statement || is_name)) starts.push_back(offset);
    if (is_code)
      begins_statement = text[offset] == ';',
      may_begin = is_valid && may_end_statement(text, token);
    if (text[offset] == '\n' && !is_valid) begins_statement = true;
    depth += lua_depth_change(text, token);
    offset = token.end;
  }
  std::reverse(starts.begin(), starts.end());
  return starts;
}

bool lua_names_function(std::string_view text) {
  std::string_view previous_word;
  for (size_t offset = 0; offset < text.size();) {
    const LuaToken token = lua_token_at(text, offset);
    offset = token.end;
    if (token.kind == Kind::blank || token.kind == Kind::comment) continue;
    const std::string_view word = text.substr(token.begin, token.end - token.begin);
    if ((previous_word == "function" && token.kind == Kind::name) ||
        (previous_word == "=" && token.kind == Kind::keyword && word == "function"))
      return true;
    previous_word = token.kind == Kind::string ? "" : word;
  }
  return false;
}

bool lua_calls(std::string_view text, std::string_view name) {
  bool is_field = false, is_callee = false;
  for (size_t offset = 0; offset < text.size();) {
    const LuaToken token = lua_token_at(text, offset);
    offset = token.end;
    if (token.kind == Kind::blank || token.kind == Kind::comment) continue;
    const std::string_view word = text.substr(token.begin, token.end - token.begin);
    if (is_callee && (word == "(" || word == "{" || token.kind == Kind::string)) return true;
    is_callee = token.kind == Kind::name && word == name && !is_field;
    is_field = word == "." || word == ":";
  }
  return false;
}

size_t lua_code_end(std::string_view text) {
  size_t end = 0;
  for (size_t offset = 0; offset < text.size();) {
    const LuaToken token = lua_token_at(text, offset);
    offset = token.end;
    if (token.kind != Kind::blank && token.kind != Kind::comment) end = offset;
  }
  return end;
}

bool lua_ends_with(std::string_view text, char symbol) {
  bool ends_with_symbol = false;
  for (size_t offset = 0; offset < text.size();) {
    const LuaToken token = lua_token_at(text, offset);
    if (token.kind != Kind::blank && token.kind != Kind::comment)
      ends_with_symbol = token.kind == Kind::symbol && text[offset] == symbol;
    offset = token.end;
  }
  return ends_with_symbol;
}

/// Processes the part of the text that is new since the last call; returns the last token, which
/// may become another token as the text grows.
LuaToken IncompleteTextChecker::process(std::string_view text) {
  if (!text.starts_with(processed_text_))
    processed_text_.clear(), next_offset_ = 0, depth_ = 0, last_token_ = {Kind::blank, 0, 0};
  processed_text_.append(text.substr(processed_text_.size()));
  LuaToken token = last_token_;
  while (next_offset_ < text.size() &&
         (token = lua_token_at(text, next_offset_)).end < text.size()) {
    depth_ += lua_depth_change(text, token);
    if (token.kind != Kind::blank && token.kind != Kind::comment) last_token_ = token;
    next_offset_ = token.end;
  }
  return next_offset_ < text.size() ? token : last_token_;
}

bool IncompleteTextChecker::is_open(std::string_view text) {
  constexpr std::string_view kContinuingOperators = "+-*/%^#&|~=,<";
  const LuaToken final_token = process(text);
  if (!final_token.is_closed && final_token.end == text.size())
    return text[final_token.begin] != '"' && text[final_token.begin] != '\'';
  const int depth = depth_ + (next_offset_ < text.size() ? lua_depth_change(text, final_token) : 0);
  const bool is_code = final_token.kind != Kind::blank && final_token.kind != Kind::comment;
  const LuaToken& last_code_token = is_code ? final_token : last_token_;
  const std::string_view word =
      text.substr(last_code_token.begin, last_code_token.end - last_code_token.begin);
  if (last_code_token.kind == Kind::symbol &&
      kContinuingOperators.find(word) != kContinuingOperators.npos)
    return true;
  return depth > 0 || word == "and" || word == "or" || word == "not";
}

}  // namespace crescent::program
