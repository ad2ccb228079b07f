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

/// The extent of an interruptible operation that owns the progress line, such as fit: files that
/// are read or saved within it show no progress.
class LongOperation {
 public:
  LongOperation() { take_line(); }
  ~LongOperation() { give_line_back(); }
  LongOperation(const LongOperation&) = delete;

 private:
  InterruptScope scope_;
};

}  // namespace crescent
