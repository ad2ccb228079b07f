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
    if (at_ != text_.size()) expected("the end");
    return result;
  }

 private:
  [[noreturn]] void expected(const char* what) const {
    fail("term '", text_, "': expected ", what, " at '", text_.substr(at_), "'");
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    skip_blanks();
    return true;
  }

  Term expression() {
    if (at_ == text_.size()) expected("an expression");
    const char first = text_[at_];
    return std::isalpha(static_cast<unsigned char>(first)) ? letter_or_call() : number();
  }

  Term number() {
    Term result;
    result.type = Term::Type::number;
    const std::string rest(text_.substr(at_));
    char* end = nullptr;
    result.number = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str()) expected("a number, a letter or a call");
    at_ += static_cast<size_t>(end - rest.c_str());
    skip_blanks();
    return result;
  }

  Term letter_or_call() {
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    skip_blanks();
    Term result;
    if (take("(")) {
      name_call(result, name);
      operands(result);
    } else {
      if (name.size() != 1) expected("( or a name of one letter");
      result.type = Term::Type::letter, result.letter = name[0];
    }
    return result;
  }

  void operands(Term& call) {
    if (take("...")) {
      call.takes_any = true;
      if (!take(")")) expected(")");
      return;
    }
    do call.operands.push_back(expression());
    while (take(","));
    if (!take(")")) expected(", or )");
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Term parse_term(std::string_view text) { return Parser(text).whole_text(); }

}  // namespace crescent::passes
