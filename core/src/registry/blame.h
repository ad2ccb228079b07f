// Adds the class and the plugin to exceptions and crashes of plugins.
#pragma once
#include "crescent/registry/registry.h"
#include "crescent/system/crash.h"

namespace crescent {

/// Rethrows the current exception, which code of the class `thrower` has thrown. An exception of a
/// class other than Error is converted to an Error: "std::out_of_range: ... (in Scale of plugin
/// 'acme.scale' (/a/scale.so))". The name of a loss, a metric or another function of tensors is put
/// before the message of an Error: "Accuracy: shapes ...". For classes that are not built in, the
/// plugin is named too: "activation Bounded of plugin 'acme.scale': ...". `thrower` is null for an
/// object that the registry did not make.
[[noreturn]] void rethrow_blaming(const ClassInfo* thrower);

/// Puts the name of a class or function before the message, unless the message contains the name or
/// its last part ("resize" of "image.resize"). If the message begins with the name of another
/// function of cr.ops, that name is removed, because the user has not called that function.
void name_thrower(Error& error, std::string_view name);

/// Whether the class is of core, of a plugin that is installed with core, or written in Lua.
bool is_built_in(const ClassInfo& info);

/// The kind, the name and, unless it is built in, the plugin of the class: "constraint Bounded of
/// plugin 'acme.scale'". `info` is null for an object that the registry did not make; it is "the
/// constraint" if this is its kind.
std::string class_description(const ClassInfo* info, std::string_view kind);

/// Runs code of an object of class `owner`; exceptions are rethrown by rethrow_blaming().
template <class F>
auto blaming(const ClassInfo* owner, F f) -> decltype(f()) {
  const std::string_view empty_text;
  const Running running(owner ? owner->kind : "an object", empty_text,
                        owner ? owner->name : empty_text, owner ? owner->plugin : empty_text);
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
