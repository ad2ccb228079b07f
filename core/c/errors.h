// Exceptions as values: every function of the interface runs in guarded().
#pragma once
#include "handles.h"

namespace crescent::c {

/// The error for the exception that is being handled.
crescent_error* current_error(const char* function) noexcept;

/// Runs the body; an exception becomes the result.
template <class Body>
crescent_error* guarded(const char* function, Body body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return current_error(function);
  }
}

}  // namespace crescent::c
