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

bool is_in(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

/// The origin of a plugin: "built-in", "user" or "path".
std::string origin_of(const std::string& path) {
  const std::vector<std::string> folders = plugin_search_path();
  if (is_in(path, folders.back())) return "built-in";
  return path.find("/crescent/plugins/") != std::string::npos ? "user" : "path";
}

std::vector<ListedPlugin> rows() {
  std::vector<ListedPlugin> all;
  for (const PluginRecord& record : list_plugins())
    all.push_back({record, origin_of(record.path), doc_of_lua_plugin(record.path)});
  return all;
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

std::string title(const ListedPlugin& row) {
  return concat(row.record.name, " ", row.record.version, "  (", row.origin, ", ",
                state_of_plugin(row.record), ")\n  ", row.record.path, "\n",
                row.doc.empty() ? "" : "  " + row.doc + "\n");
}

Dict to_dict(const ListedPlugin& row) {
  Dict dict{{"name", row.record.name},
            {"version", row.record.version},
            {"origin", row.origin},
            {"path", row.record.path},
            {"loaded", row.record.loaded},
            {"refused", row.record.refused.empty() ? Value() : Value(row.record.refused)}};
  if (!row.doc.empty()) dict.set("doc", row.doc);
  List classes;
  for (const auto& [kind, name] : row.record.classes)
    classes.push_back(Dict{{"kind", kind}, {"name", name}});
  dict.set("classes", std::move(classes));
  return dict;
}

bool is_lua_plugin(const ListedPlugin& row) { return row.record.path.ends_with(".lua"); }

/// The kinds of those classes of a plugin whose name or, for plugins in C++, alias is `name`.
std::vector<std::string> kinds_of(const ListedPlugin& row, const std::string& name) {
  std::vector<std::string> found;
  for (const KindInfo& kind : kinds()) {
    const auto& classes = row.record.classes;
    bool has = std::find(classes.begin(), classes.end(),
                         std::pair<std::string, std::string>(kind.name, name)) != classes.end();
    if (!has && row.record.refused.empty() && !is_lua_plugin(row))
      if (const auto info = registry().find(kind.name, name))
        has = std::find(classes.begin(), classes.end(), std::pair(info->kind, info->name)) !=
              classes.end();
    if (has) found.emplace_back(kind.name);
  }
  return found;
}

/// Prints the plugins that have a class of this name; returns false if none has.
bool print_providers(const std::vector<ListedPlugin>& all, const std::string& name, List* json) {
  bool any = false;
  for (const ListedPlugin& row : all)
    for (const std::string& kind : kinds_of(row, name)) {
      any = true;
      if (json) {
        Dict provider = to_dict(row);
        provider.set("classes", List{Dict{{"kind", kind}, {"name", name}}});
        json->push_back(std::move(provider));
      } else {
        print(concat(name, " (", kind, ") is in ", title(row)));
      }
    }
  return any;
}

/// The names of the plugins and of their classes.
std::vector<std::string> names_in(const std::vector<ListedPlugin>& all) {
  std::vector<std::string> names;
  for (const ListedPlugin& row : all) {
    names.push_back(row.record.name);
    for (const auto& [kind, name] : row.record.classes) names.push_back(name);
  }
  return names;
}

bool print_named(const std::vector<ListedPlugin>& all, const std::string& name, List* json) {
  const auto named = std::find_if(all.begin(), all.end(),
                                  [&](const ListedPlugin& row) { return row.record.name == name; });
  if (named == all.end() && print_providers(all, name, json)) return true;
  if (named != all.end() && json) return json->push_back(to_dict(*named)), true;
  if (named != all.end() && is_lua_plugin(*named))
    return print(title(*named) + classes_text(named->record)), true;
  bool survived = false;
  const std::string text = describe_in_child(name, survived);
  if (survived)
    print(text);
  else if (text.starts_with("no plugin "))
    print(concat("crescent: no plugin '", name, "'", did_you_mean(name, names_in(all)),
                 "; 'crescent plugins' lists what there is\n"),
          stderr);
  else
    print(concat("crescent: plugin '", name, "': ", text, "\n"), stderr);
  return survived;
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
  const std::vector<ListedPlugin> all = rows();
  List json;
  bool well = true;
  for (const std::string& name : names) well &= print_named(all, name, as_json ? &json : nullptr);
  if (names.empty())
    for (const ListedPlugin& row : all)
      as_json ? json.push_back(to_dict(row)) : print(title(row) + classes_text(row.record));
  if (as_json) print_json(json);
  return well ? 0 : 1;
}

}  // namespace crescent::program
