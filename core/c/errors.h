// Converts exceptions to error values: every function of the C interface runs in guarded().
#pragma once
#include "handles.h"

namespace crescent::c {

/// The error for the exception that is being handled.
crescent_error* current_error(const char* function) noexcept;

/// Makes an error of a plugin with this message.
crescent_error* new_error(const char* message) noexcept;
/// Throws the error as an exception and frees it; does nothing for NULL.
void throw_if(crescent_error* error);

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
