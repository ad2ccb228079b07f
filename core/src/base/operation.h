// Who owns the line of the terminal on which progress is shown.
#pragma once
#include "crescent/system/interrupt.h"

namespace crescent {

/// Whether an operation of the calling thread owns the line.
bool owns_line();
void take_line();
void give_line_back();

/// An operation that can be interrupted and owns the line while it lives, such as fit: files that
/// are read and saved meanwhile show nothing.
class LongOperation {
 public:
  LongOperation() { take_line(); }
  ~LongOperation() { give_line_back(); }
  LongOperation(const LongOperation&) = delete;

 private:
  InterruptScope scope_;
};

}  // namespace crescent
