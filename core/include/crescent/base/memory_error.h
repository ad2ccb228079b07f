// The error of memory that is not there.
#pragma once
#include "crescent/base/error.h"

namespace crescent {

/// Thrown when the values of a tensor find no memory; the message says how many bytes were wanted.
class CRESCENT_API MemoryError : public Error {
 public:
  using Error::Error;
  ~MemoryError() override;
};

}  // namespace crescent
