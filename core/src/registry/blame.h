// Exceptions that plugins throw and that are no Error: each becomes one that says whose it was.
#pragma once
#include "crescent/registry/registry.h"

namespace crescent {

/// Ends a handler. An Error goes on as it is; anything else becomes one: "std::out_of_range: ...
/// (in Scale of plugin 'acme.scale' (/a/scale.so))". Null is an object made outside the registry.
[[noreturn]] void rethrow_blaming(const ClassInfo* thrower);

/// Runs code of an object of this class.
template <class F>
auto blaming(const ClassInfo* owner, F f) -> decltype(f()) {
  try {
    return f();
  } catch (...) {
    rethrow_blaming(owner);
  }
}

template <class F>
auto blaming(const Configurable& owner, F f) -> decltype(f()) {
  return blaming(owner.info().get(), std::move(f));
}

}  // namespace crescent
