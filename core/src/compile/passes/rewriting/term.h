// Terms: expressions as the tables of rules write them, "subtract(x, negative(y))".
#pragma once
#include <string_view>
#include <vector>

#include "crescent/base/export.h"

namespace crescent::passes {

/// A letter is a value, any from n to q one that holds a single number; a number is a value that
/// holds nothing else; a call is what an op makes. Names of calls are those of ops, or the kinds of
/// elementwise ops and reductions; "(...)" takes whatever the operands are.
struct Term {
  enum class Type { letter, number, call } type{};
  char letter = 0;
  double number = 0;
  std::string_view op;          ///< of a call: name() of its op
  int kind = -1;                ///< of a call: the kind of its op; -1: any
  bool is_commutative = false;  ///< the first two operands may change places
  bool takes_any = false;
  std::vector<Term> operands;
};

/// Fails on what cannot be read, saying where.
CRESCENT_API Term parse_term(std::string_view text);

inline bool is_number_letter(char letter) { return letter >= 'n' && letter <= 'q'; }

}  // namespace crescent::passes
