// Rewrites code so that it finds out at run time whether it compares a tensor with a number. Lua
// calls no metamethod for such a comparison, so the operands are always unequal.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace crescent::program {

/// Code that passes the operands of its comparisons to a function, and the texts of these operands.
struct WatchedCode {
  struct Operands {
    std::string watched_operand;   ///< the operand that the code passes to the function: `f(x)`
    std::string compared_operand;  ///< the number or name with which the operand is compared: `n`
  };
  std::string code;
  std::vector<Operands> comparisons;
};

/// Rewrites comparisons such as `f(x) == n` and `n == f(x)`, in which n is a number or a name, as
/// `(...)(1,f(x),n) == n`. The argument of the chunk is a function that gets the number of the
/// comparison (from 1) and the values of both operands, and returns the first value. Only n, which
/// has no side effects, is evaluated twice. Comparisons within functions, which may run often, stay
/// as they are.
WatchedCode with_watched_comparisons(std::string_view code);

}  // namespace crescent::program
