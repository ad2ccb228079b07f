#include "crescent/system/user_folder.h"

#include <sys/auxv.h>

#include <cstdlib>

namespace crescent {
namespace {

struct Location {
  const char *variable, *path_in_home;
};

Location location_of(UserFolder folder) {
  switch (folder) {
    case UserFolder::cache:
      return {"XDG_CACHE_HOME", "/.cache"};
    case UserFolder::config:
      return {"XDG_CONFIG_HOME", "/.config"};
    case UserFolder::data:
      return {"XDG_DATA_HOME", "/.local/share"};
    case UserFolder::state:
      return {"XDG_STATE_HOME", "/.local/state"};
  }
  return {};
}

/// The value of the environment variable, or "" if it is not an absolute path: the XDG Base
/// Directory Specification says that relative paths must be ignored.
std::string absolute_path_in(const char* variable) {
  const char* path = std::getenv(variable);
  return path && *path == '/' ? path : "";
}

}  // namespace

std::string user_folder(UserFolder folder) {
  if (getauxval(AT_SECURE)) return "";
  const auto [variable, path_in_home] = location_of(folder);
  const std::string variable_folder = absolute_path_in(variable), home = absolute_path_in("HOME");
  if (!variable_folder.empty()) return variable_folder + "/crescent";
  return home.empty() ? "" : home + path_in_home + "/crescent";
}

}  // namespace crescent
