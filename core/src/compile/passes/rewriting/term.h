// Terms: expressions as the tables of rules write them, "subtract(x, negative(y))".
#pragma once
#include <string_view>
#include <vector>

#include "crescent/base/export.h"

namespace crescent::passes {

/// An expression of a pattern or replacement. A letter matches any value; the letters n to q match
/// only a value whose elements are all equal. A number matches a value whose elements all equal
/// that number; a call matches the result of an op. Calls have the names of ops, or of the kinds of
/// elementwise ops and reductions; "(...)" matches any operands.
struct Term {
  enum class Type { letter, number, call } type{};
  char letter = 0;
  double number = 0;
  std::string_view op;          ///< for a call: name() of the op
  int kind = -1;                ///< for a call: the kind of the op; -1 matches any kind
  bool is_commutative = false;  ///< whether the first two operands may be swapped
  bool takes_any = false;
  std::vector<Term> operands;
};

/// Parses the text; fails with the position of an error.
CRESCENT_API Term parse_term(std::string_view text);

inline bool is_number_letter(char letter) { return letter >= 'n' && letter <= 'q'; }

}  // namespace crescent::passes
