// Converts exceptions of plugins that are no Error to an Error that names the class and the plugin.
#pragma once
#include "crescent/registry/registry.h"

namespace crescent {

/// Rethrows the current exception. An Error is unchanged; another exception becomes one:
/// "std::out_of_range: ... (in Scale of plugin 'acme.scale' (/a/scale.so))". `thrower` is null for
/// an object that the registry did not make.
[[noreturn]] void rethrow_blaming(const ClassInfo* thrower);

/// Runs code of an object of class `thrower`, whose exceptions become an Error.
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
