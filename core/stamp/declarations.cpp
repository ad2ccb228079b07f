#include "declarations.h"

#include <algorithm>
#include <array>
#include <span>

#include "tokens.h"

namespace crescent::stamp {
namespace {

using Tokens = std::span<const Token>;

bool is_text(const Token& token, std::string_view text) { return token.text == text; }

bool contains(Tokens tokens, std::string_view text) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const Token& t) { return is_text(t, text); });
}

/// Whether the word is a type or a part of a type, such as "unsigned". If such a word ends a
/// parameter, it is not the parameter's name.
bool is_word_of_type(std::string_view word) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "auto", "bool",  "char",   "class",    "const",    "double", "float",    "int",
      "long", "short", "signed", "typename", "unsigned", "void",   "volatile", "struct"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool is_name(const Token& token) {
  return token.kind == TokenKind::identifier && !is_word_of_type(token.text);
}

/// Whether a parameter, given without its default value, ends with its name. It does if a type
/// precedes the last token.
bool ends_with_name(Tokens parameter) {
  if (parameter.size() < 2 || !is_name(parameter.back())) return false;
  const Token& previous_token = parameter[parameter.size() - 2];
  if (is_text(previous_token, "const") || is_text(previous_token, "volatile"))
    return std::any_of(parameter.begin(), parameter.end() - 1, is_name);
  return previous_token.kind == TokenKind::identifier
             ? !is_text(previous_token, "typename") && !is_text(previous_token, "struct") &&
                   !is_text(previous_token, "class")
             : is_text(previous_token, ">") || is_text(previous_token, "&") ||
                   is_text(previous_token, "&&") || is_text(previous_token, "*") ||
                   is_text(previous_token, "...");
}

/// Counts the open brackets while tokens are read one after the other.
class NestingDepth {
 public:
  void enter(const Token& token, const Token* before) {
    if (is_text(token, "(") || is_text(token, "[") || is_text(token, "{")) ++bracket_depth_;
    if (is_text(token, ")") || is_text(token, "]") || is_text(token, "}")) --bracket_depth_;
    if (is_text(token, "<") && before && before->kind == TokenKind::identifier) ++angle_depth_;
    if (is_text(token, ">") && angle_depth_ > 0) --angle_depth_;
  }
  bool is_outside() const { return bracket_depth_ == 0 && angle_depth_ == 0; }

 private:
  int bracket_depth_ = 0, angle_depth_ = 0;
};

void append(std::string& to, Tokens tokens) {
  for (const Token& token : tokens) to += token.text + "\n";
}

/// Appends the tokens of a parameter list without the names of parameters. If a comma may separate
/// either parameters or template arguments, the names before and after it are kept.
void append_parameters(std::string& to, Tokens list) {
  size_t first = 0, end_of_type = 0;
  bool has_default = false;
  const auto finish = [&](size_t last) {
    if (!has_default) end_of_type = last;
    const Tokens parameter = list.subspan(first, end_of_type - first);
    append(to, ends_with_name(parameter) ? parameter.first(parameter.size() - 1) : parameter);
    append(to, list.subspan(end_of_type, last - end_of_type));
    first = last, has_default = false;
  };
  NestingDepth nesting;
  for (size_t i = 0; i < list.size(); ++i) {
    nesting.enter(list[i], i > 0 ? &list[i - 1] : nullptr);
    if (!nesting.is_outside()) continue;
    if (is_text(list[i], "=") && !has_default) end_of_type = i, has_default = true;
    if (is_text(list[i], ",")) {
      finish(i);
      to += ",\n";
      first = i + 1;
    }
  }
  finish(list.size());
}

/// The index at which the parameters of the declared function begin; 0 if the declaration is not
/// that of a function.
size_t parameters_of(Tokens declaration) {
  for (const char* keyword : {"static_assert", "using", "typedef", "requires", "friend"})
    if (contains(declaration, keyword)) return 0;
  for (size_t i = 1; i < declaration.size(); ++i) {
    if (is_text(declaration[i], "=")) return 0;
    const bool is_call_operator = is_text(declaration[i], ")") &&
                                  is_text(declaration[i - 1], "(") && i > 1 &&
                                  is_text(declaration[i - 2], "operator");
    if (is_call_operator) continue;
    if (is_text(declaration[i], "(") && !is_text(declaration[i - 1], "operator")) return i + 1;
  }
  return 0;
}

size_t closing_parenthesis(Tokens tokens, size_t from) {
  int depth = 1;
  for (size_t i = from; i < tokens.size(); ++i) {
    depth += is_text(tokens[i], "(") ? 1 : is_text(tokens[i], ")") ? -1 : 0;
    if (depth == 0) return i;
  }
  return tokens.size();
}

void append_declaration(std::string& to, Tokens declaration) {
  const size_t begin = parameters_of(declaration);
  if (begin == 0) return append(to, declaration);
  const size_t end = closing_parenthesis(declaration, begin);
  append(to, declaration.first(begin));
  append_parameters(to, declaration.subspan(begin, end - begin));
  append(to, declaration.subspan(end));
}

/// Whether a brace after these tokens opens a namespace or a class, which contains declarations
/// again.
bool opens_scope(Tokens before) {
  if (contains(before, "(") || contains(before, "enum")) return false;
  for (const char* word : {"namespace", "class", "struct", "union", "extern"})
    if (contains(before, word)) return true;
  return false;
}

/// The index after the brace that closes the block whose opening brace precedes `from`.
size_t behind_block(Tokens tokens, size_t from) {
  int depth = 1;
  for (; from < tokens.size() && depth > 0; ++from)
    depth += is_text(tokens[from], "{") ? 1 : is_text(tokens[from], "}") ? -1 : 0;
  return from;
}

}  // namespace

std::string declarations(std::string_view header) {
  const std::vector<Token> header_tokens = tokens_of(header);
  const Tokens tokens(header_tokens);
  std::string text;
  size_t first_token = 0;  // index of the first token of the declaration
  int parenthesis_depth = 0;
  for (size_t i = 0; i < tokens.size();) {
    const Tokens declaration = tokens.subspan(first_token, i - first_token);
    parenthesis_depth += is_text(tokens[i], "(") ? 1 : is_text(tokens[i], ")") ? -1 : 0;
    if (parenthesis_depth > 0) {
      ++i;
    } else if (is_text(tokens[i], "{") && !opens_scope(declaration)) {
      i = behind_block(tokens, i + 1);
      append(text, tokens.subspan(first_token, i - first_token));
      first_token = i;
    } else if (is_text(tokens[i], ";") || is_text(tokens[i], "{") || is_text(tokens[i], "}") ||
               tokens[i].kind == TokenKind::directive) {
      is_text(tokens[i], ";") ? append_declaration(text, declaration) : append(text, declaration);
      append(text, tokens.subspan(i, 1));
      first_token = ++i;
    } else {
      ++i;
    }
  }
  append(text, tokens.subspan(first_token));
  return text;
}

}  // namespace crescent::stamp
