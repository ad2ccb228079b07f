// Adds the name of the op, and of its plugin, to exceptions that the op raises.
#pragma once
#include "crescent/program/op.h"

namespace crescent {

/// Rethrows the current exception, which a function of the op has thrown. An exception of a class
/// other than Error is converted to an Error: "std::bad_alloc (in infer() of op acme.ema of plugin
/// 'acme.kernels')". The name of a plugin's op is put before the message of an Error that does not
/// contain it.
[[noreturn]] void rethrow_blaming(const Op& op, const char* function);

/// Runs a function of an op; exceptions name the op.
template <class F>
auto blaming(const Op& op, const char* function, F f) -> decltype(f()) {
  try {
    return f();
  } catch (...) {
    rethrow_blaming(op, function);
  }
}

/// The name of the op and, if it is of a plugin, that of the plugin: "acme.ema of plugin
/// 'acme.kernels'".
std::string op_description(const Op& op);

}  // namespace crescent
