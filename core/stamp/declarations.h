// The parts of a header that can make a plugin fail that was built with another version of the
// header: its tokens, without comments, white space, includes and the names of parameters of
// functions that are only declared.
#pragma once
#include <string>
#include <string_view>

namespace crescent::stamp {

/// Returns these tokens, one in each line. A header may be replaced by another with the same result
/// without rebuilding plugins. If it is not certain that a name is that of a parameter, the name is
/// included.
std::string declarations(std::string_view header);

}  // namespace crescent::stamp
