// What of a header can break a plugin that was built with another version of it: its tokens,
// without comments, white space, includes and the names of parameters of functions that are only
// declared.
#pragma once
#include <string>
#include <string_view>

namespace crescent::stamp {

/// One token a line. Headers of which this is the same may be exchanged under a built plugin; where
/// the rules are not sure that a name is a parameter's, it counts.
std::string declarations(std::string_view header);

}  // namespace crescent::stamp
