// How deep lists and dictionaries may be nested in JSON: as deep as Python reads them, and not so
// deep that the stack ends.
#pragma once

namespace crescent {

inline constexpr int kJsonDepth = 1000;

}  // namespace crescent
