// Adds context to the message of a DataError: the name of a loss, or the number of the batch and
// the row in the data.
#pragma once
#include "crescent/base/error.h"

namespace crescent {

/// Returns f(); puts context() before the message of a DataError that f throws.
template <class Context, class F>
auto with_error_context(Context context, F f) -> decltype(f()) {
  try {
    return f();
  } catch (DataError& error) {
    if constexpr (std::invocable<Context, const DataError&>)
      error.add_context(context(error) + ": ");
    else
      error.add_context(context() + ": ");
    throw;
  }
}

}  // namespace crescent
