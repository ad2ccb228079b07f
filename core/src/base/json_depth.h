// The largest nesting of lists and dictionaries in JSON: at least what Python reads, and small
// enough for the stack.
#pragma once

namespace crescent {

inline constexpr int kJsonDepth = 1000;

}  // namespace crescent
