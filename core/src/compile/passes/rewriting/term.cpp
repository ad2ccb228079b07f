#include "compile/passes/rewriting/term.h"

#include <cctype>
#include <cstdlib>
#include <string>

#include "crescent/base/error.h"
#include "crescent/program/op_types.h"

namespace crescent::passes {
namespace {

template <class Kind>
int kind_named(std::string_view name, int count) {
  for (int kind = 0; kind < count; ++kind) {
    if (name_of(static_cast<Kind>(kind)) == name) return kind;
  }
  return -1;
}

bool commutes(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
    case BinaryKind::multiply:
    case BinaryKind::maximum:
    case BinaryKind::minimum:
    case BinaryKind::equal:
    case BinaryKind::not_equal:
    case BinaryKind::logical_and:
    case BinaryKind::logical_or:
      return true;
    default:
      return false;
  }
}

void name_call(Term& call, std::string_view name) {
  call.type = Term::Type::call, call.op = name;
  if (const int kind = kind_named<UnaryKind>(name, kUnaryCount); kind >= 0) {
    call.op = Unary::kName, call.kind = kind;
  } else if (const int kind = kind_named<BinaryKind>(name, kBinaryCount); kind >= 0) {
    call.op = Binary::kName, call.kind = kind;
    call.is_commutative = commutes(static_cast<BinaryKind>(kind));
  } else if (const int kind = kind_named<ReduceKind>(name, 7); kind >= 0) {
    call.op = Reduce::kName, call.kind = kind;
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Term whole_text() {
    Term result = expression();
    if (position_ != text_.size()) fail_expected("the end");
    return result;
  }

 private:
  [[noreturn]] void fail_expected(const char* expected_text) const {
    fail("term '", text_, "': expected ", expected_text, " at '", text_.substr(position_), "'");
  }
  void skip_blanks() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  bool accept(std::string_view token) {
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    skip_blanks();
    return true;
  }

  Term expression() {
    if (position_ == text_.size()) fail_expected("an expression");
    const char first_character = text_[position_];
    return std::isalpha(static_cast<unsigned char>(first_character)) ? letter_or_call() : number();
  }

  Term number() {
    Term result;
    result.type = Term::Type::number;
    const std::string rest_of_text(text_.substr(position_));
    char* end = nullptr;
    result.number = std::strtod(rest_of_text.c_str(), &end);
    if (end == rest_of_text.c_str()) fail_expected("a number, a letter or a call");
    position_ += static_cast<size_t>(end - rest_of_text.c_str());
    skip_blanks();
    return result;
  }

  Term letter_or_call() {
    const size_t start = position_;
    while (position_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_'))
      ++position_;
    const std::string_view name = text_.substr(start, position_ - start);
    skip_blanks();
    Term result;
    if (accept("(")) {
      name_call(result, name);
      parse_operands(result);
    } else {
      if (name.size() != 1) fail_expected("( or a name of one letter");
      result.type = Term::Type::letter, result.letter = name[0];
    }
    return result;
  }

  void parse_operands(Term& call) {
    if (accept("...")) {
      call.takes_any = true;
      if (!accept(")")) fail_expected(")");
      return;
    }
    do call.operands.push_back(expression());
    while (accept(","));
    if (!accept(")")) fail_expected(", or )");
  }

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace

Term parse_term(std::string_view text) { return Parser(text).whole_text(); }

}  // namespace crescent::passes
