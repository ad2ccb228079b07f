#include "program/op_blame.h"

#include "system/plugin_code.h"

namespace crescent {
namespace {

/// The plugin whose library contains the virtual table of the op, and thus its class; null for an
/// op of core.
const char* plugin_of(const Op& op) {
  const void* virtual_table = nullptr;
  std::memcpy(&virtual_table, static_cast<const void*>(&op), sizeof virtual_table);
  return plugin_at(virtual_table);
}

}  // namespace

std::string op_description(const Op& op) {
  const char* plugin = plugin_of(op);
  return concat(op.name(), plugin ? concat(" of plugin '", plugin, "'") : "");
}

void rethrow_blaming(const Op& op, const char* function) try { throw; } catch (const Interrupted&) {
  throw;
} catch (Error& error) {
  const bool is_named = std::string_view(error.what()).find(op.name()) != std::string_view::npos;
  if (plugin_of(op) && !is_named) error.add_context(op_description(op) + ": ");
  throw;
} catch (...) {
  fail(exception_text(), " (in ", function, "() of op ", op_description(op), ")");
}

}  // namespace crescent
