#include "registry/blame.h"

#include <filesystem>

#include "base/installation.h"
#include "registry/registry_state.h"

namespace crescent {

bool is_built_in(const ClassInfo& info) {
  return info.origin.empty() || info.origin == "Lua" ||
         std::filesystem::path(info.origin).parent_path() == installed_plugin_directory();
}

namespace {

/// Adds the class and its plugin to the message, unless the message already names the class or an
/// op of the plugin. Errors of layers get the name of the layer elsewhere, where the layer is
/// called.
void add_thrower(Error& error, const ClassInfo& thrower) {
  const std::string_view text = error.what();
  const std::string origin = concat(" of plugin '", thrower.plugin, "'");
  if (thrower.kind == "layer" || is_built_in(thrower) || !error.layer().empty() ||
      text.find(thrower.name) != text.npos || text.find(origin) != text.npos)
    return;
  error.add_context(concat(thrower.kind, " ", thrower.name, origin, ": "));
}

}  // namespace

void rethrow_blaming(const ClassInfo* thrower) try { throw; } catch (const Interrupted&) {
  throw;
} catch (Error& error) {
  if (thrower) add_thrower(error, *thrower);
  throw;
} catch (...) {
  fail(exception_text(),
       thrower ? concat(" (in ", thrower->name, " of ", describe_origin(*thrower), ")") : "");
}

}  // namespace crescent
