// Converts exceptions to error values: every function of the C interface runs in guarded().
#pragma once
#include "handles.h"

namespace crescent::c {

/// Makes the C error for the C++ exception that is being handled; must be called in a catch
/// handler. The message of an ArgumentError gets the name of the C function, `function`.
crescent_error* current_error(const char* function) noexcept;

/// Makes an error with this message and the code CRESCENT_ERROR_FAILED, for a callback of a plugin
/// to return; plugins call it as crescent_host.error_new.
crescent_error* new_error(const char* message) noexcept;
/// Throws the error as an exception and frees it; does nothing for NULL.
void throw_if(crescent_error* error);

/// Runs the body. If it throws, returns an error for the exception, otherwise NULL.
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
