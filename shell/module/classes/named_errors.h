// Puts a name in front of the messages of errors that Lua code raises.
#pragma once
#include <string>
#include <string_view>

#include "crescent/base/error.h"

namespace crescent::lua {

/// The result of f(). If f throws, the message of the error begins with `name`, which is added
/// unless the message already begins with it.
template <class F>
auto named_in_errors(const std::string& name, F f) {
  try {
    return f();
  } catch (const Interrupted&) {
    throw;
  } catch (Error& error) {
    if (!std::string_view(error.what()).starts_with(name)) error.add_context(name + ": ");
    throw;
  }
}

}  // namespace crescent::lua
