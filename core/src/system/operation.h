// Records whether an operation of the calling thread owns the line of the terminal that shows
// progress.
#pragma once
#include "crescent/system/interrupt.h"

namespace crescent {

/// Whether an operation of the calling thread owns the line of the terminal that shows progress.
bool owns_line();
/// take_line() marks the beginning and give_line_back() the end of an operation of the calling
/// thread that owns the progress line; operations may be nested.
void take_line();
void give_line_back();

/// An object of this class lives while an interruptible operation, such as fit, runs. The operation
/// owns the progress line, so reading and saving files shows no progress meanwhile.
class LongOperation {
 public:
  LongOperation() { take_line(); }
  ~LongOperation() { give_line_back(); }
  LongOperation(const LongOperation&) = delete;

 private:
  InterruptScope scope_;
};

}  // namespace crescent
