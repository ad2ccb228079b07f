#include "registry/files/plugin_path.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "crescent/registry/loader.h"
#include "crescent/system/user_folder.h"
#include "registry/files/lua_plugin.h"
#include "system/installation.h"

namespace crescent {
namespace fs = std::filesystem;
namespace {

uid_t library_owner() {
  struct stat status {};
  return stat(core_library_path().c_str(), &status) == 0 ? status.st_uid : 0;
}

/// Whether users other than the owner may write. Write permission of the owner's private group,
/// which by convention has the same id as the owner, does not count.
bool others_may_write(const struct stat& status) {
  const bool is_private_group =
      status.st_gid == 0 || (status.st_gid == getegid() && status.st_gid == geteuid());
  return (status.st_mode & S_IWOTH) || ((status.st_mode & S_IWGRP) && !is_private_group);
}

std::string distrust_reason(const fs::path& path, bool is_ancestor) {
  static const uid_t owner = library_owner();
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  if (status.st_uid != 0 && status.st_uid != geteuid() && status.st_uid != owner)
    return "'" + path.string() + "' belongs to another user";
  const bool is_sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX);
  if (others_may_write(status) && !(is_ancestor && is_sticky))
    return "others may write to '" + path.string() + "'";
  return "";
}

/// The absolute path of an entry of the search path. A relative path starts at the working
/// directory of the first call.
std::string absolute_path(std::string_view entry) {
  std::error_code error;
  static const fs::path start_directory = fs::current_path(error);
  return (start_directory / entry).string();
}

std::vector<std::string> environment_entries() {
  std::vector<std::string> entries;
  const char* text = getauxval(AT_SECURE) ? nullptr : std::getenv("CRESCENT_PLUGIN_PATH");
  for (std::string_view remaining_text = text ? text : ""; !remaining_text.empty();) {
    const size_t colon = std::min(remaining_text.find(':'), remaining_text.size());
    if (colon > 0) entries.push_back(absolute_path(remaining_text.substr(0, colon)));
    remaining_text.remove_prefix(std::min(colon + 1, remaining_text.size()));
  }
  return entries;
}

std::string user_directory() {
  const std::string folder = user_folder(UserFolder::data);
  return folder.empty() ? "" : folder + "/plugins";
}

}  // namespace

std::vector<std::string> libraries_in(const std::string& directory) {
  std::vector<std::string> libraries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".so") libraries.push_back(entry->path().string());
  std::sort(libraries.begin(), libraries.end());
  return libraries;
}

std::vector<std::string> plugins_in(const std::string& directory) {
  std::vector<std::string> plugins = libraries_in(directory);
  for (std::string& path : lua_plugins_in(directory)) plugins.push_back(std::move(path));
  return plugins;
}

std::string reason_not_trusted(const std::string& path) {
  std::error_code error;
  const fs::path real_path = fs::canonical(path, error);
  if (error) return "";
  for (fs::path ancestor = real_path;; ancestor = ancestor.parent_path()) {
    if (std::string reason = distrust_reason(ancestor, ancestor != real_path); !reason.empty())
      return reason;
    if (ancestor == ancestor.parent_path()) return "";
  }
}

std::vector<std::string> search_directories() {
  std::vector<std::string> directories, environment_directories = environment_entries();
  if (std::string user_plugin_directory = user_directory(); !user_plugin_directory.empty())
    environment_directories.push_back(std::move(user_plugin_directory));
  std::set<fs::path> visited_directories;
  for (std::string& directory : environment_directories) {
    std::error_code error;
    const fs::path real_directory = fs::weakly_canonical(directory, error);
    if (error || visited_directories.insert(real_directory).second)
      directories.push_back(std::move(directory));
  }
  return directories;
}

std::vector<SearchDirectory> checked_search_directories() {
  std::vector<SearchDirectory> search_path;
  for (const std::string& directory : search_directories())
    search_path.push_back({directory, reason_not_trusted(directory)});
  search_path.push_back({installed_plugin_directory(), ""});
  return search_path;
}

std::vector<std::string> plugin_search_path() {
  std::vector<std::string> directories;
  for (const SearchDirectory& search_directory : checked_search_directories())
    if (search_directory.exclusion_reason.empty())
      directories.push_back(search_directory.directory);
  return directories;
}

}  // namespace crescent
