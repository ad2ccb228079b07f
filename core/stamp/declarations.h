// Finds the tokens of a header that matter to compiled plugins: if they change, a plugin that was
// built with the old header may fail. Comments, white space, includes, and the names of parameters
// of functions that are only declared do not matter.
#pragma once
#include <string>
#include <string_view>

namespace crescent::stamp {

/// Returns the tokens of the header that matter, one in each line. If the result for a changed
/// header is the same, plugins need not be rebuilt. If it is not certain that a name is that of a
/// parameter, the name is included.
std::string declarations(std::string_view header);

}  // namespace crescent::stamp
