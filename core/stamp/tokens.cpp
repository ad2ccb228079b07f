#include "tokens.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace crescent::stamp {
namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) {
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c));
}

/// Operators of several characters. Operators that begin with '>' are missing, because ">>" may
/// also close two template argument lists, so each '>' is a token.
constexpr std::array<std::string_view, 20> kOperators = {"...", "<<=", "::", "->", "++", "--", "<<",
                                                         "<=",  "==",  "!=", "&&", "||", "+=", "-=",
                                                         "*=",  "/=",  "%=", "&=", "|=", "^="};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    while (skip_blanks(true), position_ < text_.size()) {
      if (text_[position_] == '#' && begins_line_)
        read_directive();
      else
        tokens_.push_back(next());
    }
    return std::move(tokens_);
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(position_).starts_with(what); }
  size_t position_after(std::string_view what, size_t from) const {
    const size_t position = text_.find(what, from);
    return position == text_.npos ? text_.size() : position + what.size();
  }

  /// Skips blanks, comments and continued lines, and line ends too if `lines` is true.
  void skip_blanks(bool lines) {
    for (; position_ < text_.size();) {
      if (starts("//")) {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (starts("/*")) {
        position_ = position_after("*/", position_ + 2);
      } else if (starts("\\\n")) {
        position_ += 2;
      } else if (text_[position_] == '\n') {
        if (!lines) return;
        ++position_, begins_line_ = true;
      } else if (std::isspace(static_cast<unsigned char>(text_[position_]))) {
        ++position_;
      } else {
        return;
      }
    }
  }

  Token next() {
    begins_line_ = false;
    const size_t first_character = position_;
    if (starts("R\"")) return raw_string();
    if (text_[position_] == '"' || text_[position_] == '\'') return quoted_token(text_[position_]);
    if (begins_name(text_[position_])) return take(TokenKind::identifier, name_end());
    if (std::isdigit(static_cast<unsigned char>(text_[position_])))
      return take(TokenKind::literal, number_end());
    for (const std::string_view each : kOperators)
      if (starts(each)) return take(TokenKind::punctuation, first_character + each.size());
    return take(TokenKind::punctuation, first_character + 1);
  }
  Token take(TokenKind kind, size_t end) {
    const Token token{kind, std::string(text_.substr(position_, end - position_))};
    position_ = end;
    return token;
  }
  size_t name_end() const {
    size_t end = position_;
    while (end < text_.size() && continues_name(text_[end])) ++end;
    return end;
  }
  /// The end of a number such as 1.5e-3f, 0x1p-24 or 1'000.
  size_t number_end() const {
    size_t end = position_;
    while (end < text_.size()) {
      const char c = text_[end], previous = end > position_ ? text_[end - 1] : ' ';
      const bool is_sign = (c == '+' || c == '-') &&
                           std::string_view("eEpP").find(previous) != std::string_view::npos;
      if (!continues_name(c) && c != '.' && c != '\'' && !is_sign) break;
      ++end;
    }
    return end;
  }
  Token quoted_token(char quote) {
    size_t end = position_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    return take(TokenKind::literal, std::min(end + 1, text_.size()));
  }
  Token raw_string() {
    const size_t parenthesis = text_.find('(', position_);
    const std::string closing_text =
        ")" + std::string(text_.substr(position_ + 2, parenthesis - position_ - 2)) + "\"";
    return take(TokenKind::literal, position_after(closing_text, parenthesis));
  }

  void read_directive() {
    std::string line;
    while (skip_blanks(false), position_ < text_.size() && text_[position_] != '\n')
      line += next().text + " ";
    if (!line.starts_with("# include ")) tokens_.push_back({TokenKind::directive, line});
  }

  std::string_view text_;
  size_t position_ = 0;
  bool begins_line_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view header) { return Lexer(header).tokens(); }

}  // namespace crescent::stamp
