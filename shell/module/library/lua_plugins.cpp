#include "library/lua_plugins.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

#include "crescent/registry/loader.h"
#include "crescent/system/file.h"
#include "lua/stack.h"
#include "lua/state.h"

namespace crescent::lua {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderFile = "init.lua";

std::mutex loaded_mutex;

/// The paths of the plugins that have run.
std::set<std::string>& loaded_paths() {
  static std::set<std::string> paths;
  return paths;
}

bool is_loaded(const std::string& path) {
  const std::lock_guard lock(loaded_mutex);
  return loaded_paths().contains(path);
}

/// The reason not to run a file; the folders of the search path have been checked already.
std::string distrust_of(const std::string& path) {
  for (const fs::path& at : {fs::path(path), fs::path(path).parent_path()}) {
    struct stat status {};
    if (stat(at.c_str(), &status) != 0) return concat("cannot look at '", at.string(), "'");
    if (status.st_mode & S_IWOTH) return concat("others may write to '", at.string(), "'");
    if (status.st_uid != 0 && status.st_uid != geteuid())
      return concat("'", at.string(), "' belongs to another user");
  }
  return "";
}

/// Reads "-- acme.swish 0.1.0: What it is."; returns false for another line.
bool read_title(const std::string& line, LuaPlugin& plugin) {
  const size_t colon = line.find(": ");
  if (!line.starts_with("-- ") || colon == line.npos) return false;
  std::istringstream words(line.substr(3, colon - 3));
  std::string rest;
  if (!(words >> plugin.name >> plugin.version) || words >> rest) return false;
  plugin.doc = line.substr(colon + 2);
  return true;
}

/// Reads "layer Swish, loss Quartic".
void read_classes(const std::string& text, LuaPlugin& plugin) {
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row, ',');) {
    std::istringstream words(row);
    std::string kind, name;
    if (words >> kind >> name) plugin.classes.emplace_back(kind, name);
  }
}

/// Reads the first lines of a file; returns false for a file without a title, which is a script and
/// not a plugin.
bool read_head(const std::string& path, LuaPlugin& plugin) {
  constexpr std::string_view kProvides = "-- provides: ";
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || !read_title(line, plugin)) return false;
  plugin.path = path;
  while (std::getline(file, line) && line.starts_with("--"))
    if (line.starts_with(kProvides)) read_classes(line.substr(kProvides.size()), plugin);
  return true;
}

std::vector<std::string> lua_files_in(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const fs::path path = at->path(), inside = path / kFolderFile;
    if (path.extension() == ".lua" && fs::is_regular_file(path, error)) files.push_back(path);
    if (fs::is_regular_file(inside, error)) files.push_back(inside);
  }
  std::sort(files.begin(), files.end());
  return files;
}

void run(lua_State* L, const LuaPlugin& plugin) {
  if (!plugin.refused.empty())
    fail("plugin '", plugin.name, "' (", plugin.path, ") is not loaded: ", plugin.refused);
  if (is_loaded(plugin.path)) return;
  push_global(L, "dofile");
  lua_pushlstring(L, plugin.path.data(), plugin.path.size());
  protected_call(L, 1, 0);
  const std::lock_guard lock(loaded_mutex);
  loaded_paths().insert(plugin.path);
}

}  // namespace

std::vector<LuaPlugin> lua_plugins() {
  std::vector<LuaPlugin> plugins;
  std::set<std::string> names;
  for (const std::string& directory : plugin_search_path())
    for (const std::string& path : lua_files_in(directory)) {
      LuaPlugin plugin;
      if (!read_head(path, plugin)) continue;
      plugin.refused = distrust_of(path);
      plugin.loaded = is_loaded(path);
      if (plugin.refused.empty() && !names.insert(plugin.name).second)
        plugin.refused = concat("'", plugin.name, "' is the name of another plugin before it");
      plugins.push_back(std::move(plugin));
    }
  return plugins;
}

Dict described(const LuaPlugin& plugin) {
  Dict dict{{"name", plugin.name},
            {"version", plugin.version},
            {"doc", plugin.doc},
            {"path", plugin.path},
            {"loaded", plugin.loaded}};
  if (!plugin.refused.empty()) dict.set("refused", plugin.refused);
  List classes;
  for (const auto& [kind, name] : plugin.classes)
    classes.push_back(Dict{{"kind", kind}, {"name", name}});
  dict.set("classes", std::move(classes));
  return dict;
}

bool load_lua_plugin(lua_State* L, const std::string& name) {
  for (const LuaPlugin& plugin : lua_plugins())
    if (plugin.name == name) return run(L, plugin), true;
  return false;
}

bool load_lua_plugin_for(lua_State* L, const std::string& kind, const std::string& class_name) {
  for (const LuaPlugin& plugin : lua_plugins()) {
    const bool has = std::find(plugin.classes.begin(), plugin.classes.end(),
                               std::pair(kind, class_name)) != plugin.classes.end();
    if (has && plugin.refused.empty() && !plugin.loaded) return run(L, plugin), true;
  }
  return false;
}

int as_called_by_lua(lua_State* L, const std::function<int()>& work) {
  struct LuaWork {
    const std::function<int()>& work;
    int result;
    std::exception_ptr error;
  } run{work, 0, nullptr};
  const auto body = [](lua_State*, const void* object) {
    auto& inside = *static_cast<LuaWork*>(const_cast<void*>(object));
    try {
      inside.result = inside.work();
    } catch (...) {
      inside.error = std::current_exception();
    }
    return 0;
  };
  guarded(L, body, &run);
  if (run.error) std::rethrow_exception(run.error);
  return run.result;
}

}  // namespace crescent::lua
