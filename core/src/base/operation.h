// Whether the calling thread is within an interruptible operation, which owns the line of the
// terminal.
#pragma once

namespace crescent {

/// True while an InterruptScope of the calling thread lives.
bool within_operation();

}  // namespace crescent
