// Errors of code in Lua begin with a name.
#pragma once
#include <string>

#include "crescent/base/error.h"

namespace crescent::lua {

/// The result of f(), whose errors begin with a name.
template <class F>
auto named_in_errors(const std::string& name, F f) {
  try {
    return f();
  } catch (const Interrupted&) {
    throw;
  } catch (Error& error) {
    error.add_context(name + ": ");
    throw;
  }
}

}  // namespace crescent::lua
