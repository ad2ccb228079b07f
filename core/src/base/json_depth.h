// The largest accepted nesting of lists and dictionaries in JSON: at least as deep as Python reads,
// and small enough for the stack of a recursive parser.
#pragma once

namespace crescent {

inline constexpr int kMaxJsonDepth = 1000;

}  // namespace crescent
