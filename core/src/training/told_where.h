// Mistakes in data name the place: the loss, the batch.
#pragma once
#include "crescent/base/error.h"

namespace crescent {

/// f(); place() comes before the message of a DataError.
template <class Place, class F>
auto told_where(Place place, F f) -> decltype(f()) {
  try {
    return f();
  } catch (DataError& error) {
    error.add_context(place() + ": ");
    throw;
  }
}

}  // namespace crescent
