#include "registry/files/lua_plugin.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "crescent/registry/registry.h"
#include "host/lua_plugins.h"

namespace crescent {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFolderScriptName = "init.lua";

LuaRunner& runner() {
  static LuaRunner runner;
  return runner;
}

/// Parses the title line "-- acme.swish 0.1.0: A description."; returns false for another line.
bool read_title(const std::string& line, LuaPlugin& lua_plugin) {
  const size_t colon = line.find(": ");
  if (!line.starts_with("-- ") || colon == line.npos) return false;
  std::istringstream words(line.substr(3, colon - 3));
  std::string rest_of_line;
  if (!(words >> lua_plugin.plugin.name >> lua_plugin.plugin.version) || words >> rest_of_line)
    return false;
  lua_plugin.doc = line.substr(colon + 2);
  return true;
}

/// Parses the list of classes "layer Swish, loss Quartic".
void read_classes(const std::string& text, IndexedPlugin& plugin) {
  std::istringstream item_stream(text);
  for (std::string item; std::getline(item_stream, item, ',');) {
    std::istringstream words(item);
    std::string kind, name, rest_of_line;
    if (!(words >> kind >> name) || words >> rest_of_line)
      fail("after 'provides:' stand kinds and names, such as 'layer Swish', not '", item, "'");
    plugin.classes.push_back({kind_named(kind).name, name, {}, {}});
  }
}

void read_provided_classes(std::ifstream& file, IndexedPlugin& plugin) {
  constexpr std::string_view kProvidesPrefix = "-- provides: ";
  for (std::string line; std::getline(file, line) && line.starts_with("--");)
    if (line.starts_with(kProvidesPrefix))
      read_classes(line.substr(kProvidesPrefix.size()), plugin);
}

bool is_plugin(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  LuaPlugin lua_plugin;
  return std::getline(file, line) && read_title(line, lua_plugin);
}

}  // namespace

std::optional<LuaPlugin> read_lua_plugin(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  LuaPlugin lua_plugin;
  if (!std::getline(file, line) || !read_title(line, lua_plugin)) return std::nullopt;
  lua_plugin.plugin.path = path;
  try {
    read_provided_classes(file, lua_plugin.plugin);
  } catch (const Error& error) {
    lua_plugin.refusal_reason = error.what();
  }
  return lua_plugin;
}

std::vector<std::string> lua_plugins_in(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path(), plugin_file = entry->path() / kFolderScriptName;
    if (is_lua(path) && is_plugin(path)) files.push_back(path);
    if (is_plugin(plugin_file)) files.push_back(plugin_file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string doc_of_lua_plugin(const std::string& path) {
  const auto lua_plugin = is_lua(path) ? read_lua_plugin(path) : std::nullopt;
  return lua_plugin ? lua_plugin->doc : "";
}

void set_lua_runner(LuaRunner lua_runner) { runner() = std::move(lua_runner); }

void run_lua_plugin(const PluginRecord& plugin) {
  if (!runner()) fail("it is written in Lua, which this program does not run");
  runner()(plugin);
  for (const auto& [kind, name] : plugin.classes)
    if (!registry().find(kind, name))
      fail("it says that it provides ", kind, " '", name, "', and does not define it");
}

}  // namespace crescent
