// Comparisons of tensors with numbers, which Lua answers without asking either: they always differ.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace crescent::program {

/// Code that passes operands of its comparisons to a function, and the operands as they are
/// written.
struct WatchedCode {
  struct Operands {
    std::string watched, other;
  };
  std::string code;
  std::vector<Operands> comparisons;
};

/// Rewrites comparisons `f(x) == n` and `n ~= f(x)`, in which n is a number or a name, as
/// `(...)(1,f(x),n) == n`: the argument of the chunk, a function that returns its second argument,
/// is told the number of the comparison and both values. Nothing is evaluated twice. Comparisons
/// within functions, which may run often, stay as they are.
WatchedCode with_watched_comparisons(std::string_view code);

}  // namespace crescent::program
