// Mistakes in data name the place: the loss, the batch.
#pragma once
#include "crescent/base/error.h"

namespace crescent {

/// f(); context() comes before the message of a DataError.
template <class Context, class F>
auto with_error_context(Context context, F f) -> decltype(f()) {
  try {
    return f();
  } catch (DataError& error) {
    error.add_context(context() + ": ");
    throw;
  }
}

}  // namespace crescent
