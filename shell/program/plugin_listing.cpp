// crescent plugins: lists all plugins, describes one of them, or finds those that have a class.
#include "plugin_listing.h"

#include <algorithm>

#include "command_table.h"
#include "commands.h"
#include "crescent/registry/registry.h"
#include "file_commands.h"
#include "host/lua_plugins.h"

namespace crescent::program {
namespace {

/// A plugin in the listing, written in C++ or in Lua.
struct ListedPlugin {
  PluginRecord record;
  std::string origin, doc;
};

bool is_in_folder(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

/// The origin of a plugin: "built-in", "user" or "path".
std::string origin_of(const std::string& path) {
  const std::vector<std::string> folders = plugin_search_path();
  if (is_in_folder(path, folders.back())) return "built-in";
  return path.find("/crescent/plugins/") != std::string::npos ? "user" : "path";
}

std::vector<ListedPlugin> listed_plugins() {
  std::vector<ListedPlugin> plugins;
  for (const PluginRecord& record : list_plugins())
    plugins.push_back({record, origin_of(record.path), doc_of_lua_plugin(record.path)});
  return plugins;
}

std::string classes_text(const PluginRecord& plugin) {
  std::string text, kind;
  for (const auto& [class_kind, name] : plugin.classes) {
    text += class_kind == kind ? ", " + name
                               : (kind.empty() ? "" : "\n") + concat("  ", class_kind, ": ", name);
    kind = class_kind;
  }
  return text.empty() ? text : text + "\n";
}

std::string title(const ListedPlugin& plugin) {
  return concat(plugin.record.name, " ", plugin.record.version, "  (", plugin.origin, ", ",
                state_of_plugin(plugin.record), ")\n  ", plugin.record.path, "\n",
                plugin.doc.empty() ? "" : "  " + plugin.doc + "\n");
}

Dict to_dict(const ListedPlugin& plugin) {
  Dict dict{{"name", plugin.record.name},
            {"version", plugin.record.version},
            {"origin", plugin.origin},
            {"path", plugin.record.path},
            {"loaded", plugin.record.loaded},
            {"refused", plugin.record.refused.empty() ? Value() : Value(plugin.record.refused)}};
  if (!plugin.doc.empty()) dict.set("doc", plugin.doc);
  List classes;
  for (const auto& [kind, name] : plugin.record.classes)
    classes.push_back(Dict{{"kind", kind}, {"name", name}});
  dict.set("classes", std::move(classes));
  return dict;
}

bool is_lua_plugin(const ListedPlugin& plugin) { return plugin.record.path.ends_with(".lua"); }

/// The kinds of those classes of a plugin whose name or, for plugins in C++, alias is `name`.
std::vector<std::string> kinds_of(const ListedPlugin& plugin, const std::string& name) {
  std::vector<std::string> matching_kinds;
  for (const KindInfo& kind : kinds()) {
    const auto& classes = plugin.record.classes;
    bool has_class =
        std::find(classes.begin(), classes.end(),
                  std::pair<std::string, std::string>(kind.name, name)) != classes.end();
    if (!has_class && plugin.record.refused.empty() && !is_lua_plugin(plugin))
      if (const auto info = registry().find(kind.name, name))
        has_class = std::find(classes.begin(), classes.end(), std::pair(info->kind, info->name)) !=
                    classes.end();
    if (has_class) matching_kinds.emplace_back(kind.name);
  }
  return matching_kinds;
}

/// Prints the plugins that have a class of this name; returns false if none has.
bool print_providers(const std::vector<ListedPlugin>& plugins, const std::string& name,
                     List* json_rows) {
  bool has_provider = false;
  for (const ListedPlugin& plugin : plugins)
    for (const std::string& kind : kinds_of(plugin, name)) {
      has_provider = true;
      if (json_rows) {
        Dict provider = to_dict(plugin);
        provider.set("classes", List{Dict{{"kind", kind}, {"name", name}}});
        json_rows->push_back(std::move(provider));
      } else {
        print(concat(name, " (", kind, ") is in ", title(plugin)));
      }
    }
  return has_provider;
}

/// The names of the plugins and of their classes.
std::vector<std::string> names_in(const std::vector<ListedPlugin>& plugins) {
  std::vector<std::string> names;
  for (const ListedPlugin& plugin : plugins) {
    names.push_back(plugin.record.name);
    for (const auto& [kind, name] : plugin.record.classes) names.push_back(name);
  }
  return names;
}

bool print_plugin_or_class(const std::vector<ListedPlugin>& plugins, const std::string& name,
                           List* json_rows) {
  const auto match = std::find_if(plugins.begin(), plugins.end(), [&](const ListedPlugin& plugin) {
    return plugin.record.name == name;
  });
  if (match == plugins.end() && print_providers(plugins, name, json_rows)) return true;
  if (match != plugins.end() && json_rows) return json_rows->push_back(to_dict(*match)), true;
  if (match != plugins.end() && is_lua_plugin(*match))
    return print(title(*match) + classes_text(match->record)), true;
  bool child_survived = false;
  const std::string text = describe_in_child(name, child_survived);
  if (child_survived)
    print(text);
  else if (text.starts_with("no plugin "))
    print(concat("crescent: no plugin '", name, "'", did_you_mean(name, names_in(plugins)),
                 "; 'crescent plugins' lists what there is\n"),
          stderr);
  else
    print(concat("crescent: plugin '", name, "': ", text, "\n"), stderr);
  return child_survived;
}

}  // namespace

std::string state_of_plugin(const PluginRecord& plugin) {
  if (!plugin.refused.empty()) return "refused: " + plugin.refused;
  return plugin.loaded ? "loaded" : "loaded on first use";
}

int show_plugins(const std::vector<std::string>& arguments) {
  std::vector<std::string> names = arguments;
  const bool as_json = std::erase(names, "--json") > 0;
  for (const std::string& name : names)
    if (name.empty()) fail_usage("plugins", "expected the name of a plugin or class, got ''");
  for (const std::string& name : names)
    if (name.starts_with("-")) fail_usage("plugins", concat("no option '", name, "'"));
  const std::vector<ListedPlugin> plugins = listed_plugins();
  List json_rows;
  bool succeeded = true;
  for (const std::string& name : names)
    succeeded &= print_plugin_or_class(plugins, name, as_json ? &json_rows : nullptr);
  if (names.empty())
    for (const ListedPlugin& plugin : plugins)
      as_json ? json_rows.push_back(to_dict(plugin))
              : print(title(plugin) + classes_text(plugin.record));
  if (as_json) print_json(json_rows);
  return succeeded ? 0 : 1;
}

}  // namespace crescent::program
