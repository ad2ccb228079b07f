#include "registry/files/plugin_index.h"

#include <filesystem>
#include <fstream>

#include "crescent/base/export.h"
#include "crescent/base/value.h"
#include "crescent/system/file.h"

namespace crescent {
namespace fs = std::filesystem;
namespace {

constexpr const char* kIndexName = "index.json";

int64_t bytes_of(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? -1 : static_cast<int64_t>(bytes);
}

std::vector<IndexedPlugin> parse_index(const std::string& text, const std::string& directory) {
  std::vector<IndexedPlugin> plugins;
  const Value index = parse_json(text);
  if (index.as_dict().at("crescent") != Value(CRESCENT_VERSION)) return plugins;
  for (const Value& item : index.as_dict().at("plugins").as_list()) {
    IndexedPlugin plugin = plugin_of_entry(item.as_dict(), directory);
    if (bytes_of(plugin.path) == item.as_dict().at("bytes").as_int())
      plugins.push_back(std::move(plugin));
  }
  return plugins;
}

}  // namespace

Dict index_entry(const IndexedPlugin& plugin) {
  List classes;
  for (const IndexedClass& c : plugin.classes) {
    // Empty entries are left out to keep the index short, because almost every process reads it.
    Dict entry{{"kind", c.kind}, {"name", c.name}};
    if (!c.aliases.empty()) entry.set("aliases", c.aliases);
    if (!c.traits.empty()) entry.set("traits", c.traits);
    classes.push_back(std::move(entry));
  }
  return Dict{{"library", fs::path(plugin.path).filename().string()},
              {"bytes", bytes_of(plugin.path)},
              {"name", plugin.name},
              {"version", plugin.version},
              {"classes", classes}};
}

IndexedPlugin plugin_of_entry(const Dict& entry, const std::string& directory) {
  const fs::path library = fs::path(entry.at("library").as_string()).filename();
  IndexedPlugin plugin{(directory / library).string(),
                       entry.at("name").as_string(),
                       entry.at("version").as_string(),
                       {}};
  for (const Value& item : entry.at("classes").as_list()) {
    const Dict& c = item.as_dict();
    std::vector<std::string> aliases;
    if (const Value* alias_value = c.find("aliases"))
      for (const Value& alias : alias_value->as_list()) aliases.push_back(alias.as_string());
    const Value* traits = c.find("traits");
    plugin.classes.push_back({c.at("kind").as_string(), c.at("name").as_string(),
                              std::move(aliases), traits ? traits->as_string() : ""});
  }
  return plugin;
}

std::vector<IndexedPlugin> read_index(const std::string& directory) {
  const std::string path = (fs::path(directory) / kIndexName).string();
  if (std::error_code error; !fs::exists(path, error)) return {};
  try {
    return parse_index(read_file(path), directory);
  } catch (const Error& error) {
    warn("'", path, "' is left out: ", error.what());
    return {};
  }
}

void write_index(const std::string& directory, const std::vector<IndexedPlugin>& plugins) {
  List entries;
  for (const IndexedPlugin& plugin : plugins) entries.push_back(index_entry(plugin));
  replace_file((fs::path(directory) / kIndexName).string(),
               to_json(Dict{{"crescent", CRESCENT_VERSION}, {"plugins", entries}}) + '\n');
}

}  // namespace crescent
