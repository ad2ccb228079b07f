// The error for memory that cannot be allocated.
#pragma once
#include "crescent/base/error.h"

namespace crescent {

/// Thrown if the memory for the values of a tensor cannot be allocated; the message gives the
/// number of bytes.
class CRESCENT_API MemoryError : public Error {
 public:
  using Error::Error;
  ~MemoryError() override;
};

}  // namespace crescent
