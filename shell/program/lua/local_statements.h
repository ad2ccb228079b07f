// Finds the local variables that a Lua text declares outside of all blocks.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace crescent::program {

/// The statement `local a <const>, b = 1, 2` or `local function f() end`.
struct LocalStatement {
  struct Variable {
    std::string name;
    std::string attribute;       ///< "const", "close" or nothing
    size_t attribute_begin = 0;  ///< offset of the attribute in the text
  };
  std::vector<Variable> variables;
  size_t end = 0;  ///< the offset behind the statement's last token
};

/// The local statements outside of all blocks, in order. The text must compile.
std::vector<LocalStatement> local_statements(std::string_view text);

/// All names that occur in a text, including those of fields and labels.
std::set<std::string, std::less<>> names_in(std::string_view text);

}  // namespace crescent::program
