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

constexpr const char* kFolderFile = "init.lua";

LuaRunner& runner() {
  static LuaRunner runner;
  return runner;
}

/// Parses the title line "-- acme.swish 0.1.0: A description."; returns false for another line.
bool read_title(const std::string& line, LuaPlugin& read) {
  const size_t colon = line.find(": ");
  if (!line.starts_with("-- ") || colon == line.npos) return false;
  std::istringstream words(line.substr(3, colon - 3));
  std::string rest_of_line;
  if (!(words >> read.plugin.name >> read.plugin.version) || words >> rest_of_line) return false;
  read.doc = line.substr(colon + 2);
  return true;
}

/// Parses the list of classes "layer Swish, loss Quartic".
void read_classes(const std::string& text, IndexedPlugin& plugin) {
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row, ',');) {
    std::istringstream words(row);
    std::string kind, name, rest_of_line;
    if (!(words >> kind >> name) || words >> rest_of_line)
      fail("after 'provides:' stand kinds and names, such as 'layer Swish', not '", row, "'");
    plugin.classes.push_back({kind_named(kind).name, name, {}, {}});
  }
}

void read_provided(std::ifstream& file, IndexedPlugin& plugin) {
  constexpr std::string_view kProvidesPrefix = "-- provides: ";
  for (std::string line; std::getline(file, line) && line.starts_with("--");)
    if (line.starts_with(kProvidesPrefix))
      read_classes(line.substr(kProvidesPrefix.size()), plugin);
}

bool is_plugin(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  LuaPlugin read;
  return std::getline(file, line) && read_title(line, read);
}

}  // namespace

std::optional<LuaPlugin> read_lua_plugin(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  LuaPlugin read;
  if (!std::getline(file, line) || !read_title(line, read)) return std::nullopt;
  read.plugin.path = path;
  try {
    read_provided(file, read.plugin);
  } catch (const Error& error) {
    read.refused = error.what();
  }
  return read;
}

std::vector<std::string> lua_plugins_in(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path(), plugin_file = entry->path() / kFolderFile;
    if (is_lua(path) && is_plugin(path)) files.push_back(path);
    if (is_plugin(plugin_file)) files.push_back(plugin_file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string doc_of_lua_plugin(const std::string& path) {
  const auto read = is_lua(path) ? read_lua_plugin(path) : std::nullopt;
  return read ? read->doc : "";
}

void set_lua_runner(LuaRunner given) { runner() = std::move(given); }

void run_lua_plugin(const PluginRecord& plugin) {
  if (!runner()) fail("it is written in Lua, which this program does not run");
  runner()(plugin.path);
  for (const auto& [kind, name] : plugin.classes)
    if (!registry().find(kind, name))
      fail("it says that it provides ", kind, " '", name, "', and does not define it");
}

}  // namespace crescent
