// Tells whether the calling thread runs an interruptible operation, which may show its progress on
// the line of the terminal.
#pragma once

namespace crescent {

/// True while an InterruptScope of the calling thread lives.
bool within_operation();

}  // namespace crescent
