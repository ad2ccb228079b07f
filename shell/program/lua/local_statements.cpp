#include "local_statements.h"

#include <algorithm>

#include "lua_tokens.h"

namespace crescent::program {
namespace {

using Kind = LuaToken::Kind;

bool is_code(const LuaToken& token) {
  return token.kind != Kind::blank && token.kind != Kind::comment;
}

/// Iterates over the tokens of code, without blanks and comments. At the end of the code the
/// current token is empty.
class CodeReader {
 public:
  explicit CodeReader(std::string_view text) : text_(text) { find_code(0); }

  bool at_end() const { return token_.begin >= text_.size(); }
  Kind kind() const { return token_.kind; }
  size_t begin() const { return token_.begin; }
  size_t last_token_end() const { return last_token_end_; }
  std::string_view word() const { return text_.substr(token_.begin, token_.end - token_.begin); }
  bool is_token(std::string_view text) const {
    return word() == text && kind() != Kind::string && !at_end();
  }
  /// Whether the next tokens are these symbols, without blanks between them.
  bool are_symbols(std::string_view symbols) const {
    return kind() == Kind::symbol && text_.substr(token_.begin).starts_with(symbols);
  }
  int depth_change() const { return at_end() ? 0 : lua_depth_change(text_, token_); }

  void next(size_t count = 1) {
    for (; count > 0; --count) {
      last_token_end_ = std::min(token_.end, text_.size());
      find_code(token_.end);
    }
  }
  bool skip_if(std::string_view text) { return is_token(text) && (next(), true); }

 private:
  void find_code(size_t offset) {
    token_ = {Kind::blank, text_.size(), text_.size()};
    while (offset < text_.size() && !is_code(token_ = lua_token_at(text_, offset)))
      offset = token_.end;
    if (offset >= text_.size()) token_ = {Kind::blank, text_.size(), text_.size()};
  }
  std::string_view text_;
  LuaToken token_{Kind::blank, 0, 0};
  size_t last_token_end_ = 0;
};

/// Skips the block or the bracketed text that begins at the current token.
void skip_balanced(CodeReader& code) {
  int depth = 0;
  do {
    depth += code.depth_change();
    code.next();
  } while (depth > 0 && !code.at_end());
}

/// Skips the fields, indices, and arguments of calls that follow a value.
void skip_suffixes(CodeReader& code) {
  while (!code.at_end()) {
    const bool is_method = code.is_token(":") && !code.are_symbols("::");
    if (is_method || (code.is_token(".") && !code.are_symbols("..")))
      code.next(2);
    else if (code.kind() == Kind::string)
      code.next();
    else if (code.is_token("(") || code.is_token("[") || code.is_token("{"))
      skip_balanced(code);
    else
      return;
  }
}

bool begins_block(const CodeReader& code) {
  return code.is_token("function") || code.is_token("{");
}
bool is_unary(const CodeReader& code) {
  return code.is_token("not") || code.is_token("-") || code.is_token("#") || code.is_token("~");
}

void skip_operand(CodeReader& code) {
  while (is_unary(code)) code.next();
  if (begins_block(code)) return skip_balanced(code);
  if (code.are_symbols("...")) return code.next(3);
  const bool has_suffixes = code.kind() == Kind::name || code.is_token("(");
  code.is_token("(") ? skip_balanced(code) : code.next();
  if (has_suffixes) skip_suffixes(code);
}

/// The number of tokens of the binary operator at the current token; 0 if there is none.
size_t operator_size(const CodeReader& code) {
  for (const char* long_operator : {"..", "==", "~=", "<=", ">=", "<<", ">>", "//"})
    if (code.are_symbols(long_operator)) return 2;
  if (code.is_token("and") || code.is_token("or")) return 1;
  constexpr std::string_view kOneLetterOperators = "+-*/^%&~|<>";
  return code.kind() == Kind::symbol &&
                 kOneLetterOperators.find(code.word()) != kOneLetterOperators.npos
             ? 1
             : 0;
}

void skip_expression(CodeReader& code) {
  skip_operand(code);
  while (const size_t size = operator_size(code)) {
    code.next(size);
    skip_operand(code);
  }
}

void skip_expressions(CodeReader& code) {
  do skip_expression(code);
  while (code.skip_if(","));
}

LocalStatement::Variable read_variable(CodeReader& code) {
  LocalStatement::Variable result{std::string(code.word()), "", 0};
  code.next();
  if (!code.skip_if("<")) return result;
  result.attribute = code.word();
  result.attribute_begin = code.begin();
  code.next(2);
  return result;
}

LocalStatement read_local_function(CodeReader& code) {
  LocalStatement statement;
  CodeReader lookahead = code;
  lookahead.next();
  statement.variables.push_back({std::string(lookahead.word()), "", 0});
  skip_balanced(code);
  statement.end = code.last_token_end();
  return statement;
}

/// Reads a local statement; the current token of `code` is the token after the word `local`.
LocalStatement read_local_statement(CodeReader& code) {
  if (code.is_token("function")) return read_local_function(code);
  LocalStatement statement;
  do statement.variables.push_back(read_variable(code));
  while (code.skip_if(","));
  if (code.skip_if("=")) skip_expressions(code);
  statement.end = code.last_token_end();
  return statement;
}

}  // namespace

std::vector<LocalStatement> local_statements(std::string_view text) {
  std::vector<LocalStatement> statements;
  if (text.find("local") == text.npos) return statements;
  int depth = 0;
  for (CodeReader code(text); !code.at_end();) {
    if (depth == 0 && code.skip_if("local")) {
      statements.push_back(read_local_statement(code));
      continue;
    }
    depth += code.depth_change();
    code.next();
  }
  return statements;
}

std::set<std::string, std::less<>> names_in(std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (size_t offset = 0; offset < text.size();) {
    const LuaToken token = lua_token_at(text, offset);
    if (token.kind == Kind::name) names.emplace(text.substr(offset, token.end - offset));
    offset = token.end;
  }
  return names;
}

}  // namespace crescent::program
