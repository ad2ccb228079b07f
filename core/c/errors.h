// Exceptions as values: every function of the interface runs in guarded().
#pragma once
#include "handles.h"

namespace crescent::c {

/// The error for the exception that is being handled.
crescent_error* current_error(const char* function) noexcept;

/// An error of a plugin with a message of its own.
crescent_error* new_error(const char* message) noexcept;
/// Throws what the error says and frees it; none is no error.
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
