// The local variables that a text in Lua declares outside of all blocks.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace crescent::program {

/// `local a <const>, b = 1, 2` or `local function f() end`.
struct LocalStatement {
  struct Variable {
    std::string name;
    std::string attribute;       ///< "const", "close" or nothing
    size_t attribute_begin = 0;  ///< where it stands in the text
  };
  std::vector<Variable> variables;
  size_t end = 0;  ///< behind its last token
};

/// Of a text that compiles: its statements of this kind that stand in no block, in order.
std::vector<LocalStatement> local_statements(std::string_view text);

/// The names in a text, of fields and labels too.
std::set<std::string, std::less<>> names_in(std::string_view text);

}  // namespace crescent::program
