#include "registry/blame.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/text.h"
#include "registry/registry_state.h"
#include "system/installation.h"

namespace crescent {

bool is_built_in(const ClassInfo& info) {
  return info.origin.empty() || info.origin == "Lua" ||
         std::filesystem::path(info.origin).parent_path() == installed_plugin_directory();
}

namespace {

/// The kinds of classes whose objects are functions of tensors. Such a function calls ops. The
/// error message of an op names only the op, so the name of the function is added.
constexpr std::string_view kFunctionKinds[] = {
    "loss", "metric", "activation", "regularizer", "constraint", "schedule", "initializer"};

bool is_function(const ClassInfo& info) {
  return info.origin != "Lua" && std::find(std::begin(kFunctionKinds), std::end(kFunctionKinds),
                                           info.kind) != std::end(kFunctionKinds);
}

/// Whether the text has the word, delimited by characters that names do not have.
bool has_word(std::string_view text, std::string_view word) {
  const auto is_name_character = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  for (size_t position = text.find(word); position != text.npos;
       position = text.find(word, position + 1)) {
    const size_t end = position + word.size();
    if ((position == 0 || !is_name_character(text[position - 1])) &&
        (end == text.size() || !is_name_character(text[end])))
      return true;
  }
  return false;
}

/// Adds the name of the class that threw the error to its message. A built-in class is added only
/// if it is a function of tensors. For any other class, the plugin is added too, unless the message
/// names an op of the plugin. Errors of layers get the name of the layer where the layer is called.
void add_thrower(Error& error, const ClassInfo& thrower) {
  if (thrower.kind == "layer" || !error.layer().empty()) return;
  const std::string_view text = error.what();
  if (is_built_in(thrower)) {
    if (is_function(thrower) && !has_word(text, snake_case(thrower.name)))
      name_thrower(error, thrower.name);
    return;
  }
  const std::string origin = concat(" of plugin '", thrower.plugin, "'");
  if (text.find(thrower.name) == text.npos && text.find(origin) == text.npos)
    error.add_context(concat(thrower.kind, " ", thrower.name, origin, ": "));
}

/// Removes the name of a cr.ops function from the start of the message, if there is one.
std::string_view without_function(std::string_view message) {
  const size_t end = std::min(message.find(": "), message.size());
  const bool is_named = registry().find("operation", message.substr(0, end)) != nullptr;
  return is_named ? message.substr(std::min(end + 2, message.size())) : message;
}

}  // namespace

std::string class_description(const ClassInfo* info, std::string_view kind) {
  if (!info) return concat("the ", kind);
  const bool has_plugin = !info->plugin.empty() && info->plugin != "Lua" &&
                          (info->origin == "Lua" || !is_built_in(*info));
  return concat(info->kind, " ", info->name,
                has_plugin ? concat(" of plugin '", info->plugin, "'") : "");
}

void name_thrower(Error& error, std::string_view name) {
  if (has_word(error.what(), name.substr(name.rfind('.') + 1))) return;
  error.set_message(concat(name, ": ", without_function(error.what())));
}

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
