#include "system/installation.h"

#include <dlfcn.h>

#include <filesystem>

namespace crescent {

const std::string& core_library_path() {
  static const std::string path = [] {
    Dl_info info{};
    std::error_code ignored;
    if (!dladdr(reinterpret_cast<const void*>(&core_library_path), &info)) return std::string();
    return std::filesystem::canonical(info.dli_fname, ignored).string();
  }();
  return path;
}

const std::string& installed_plugin_directory() {
  static const std::string directory =
      (std::filesystem::path(core_library_path()).parent_path() / "crescent/plugins").string();
  return directory;
}

}  // namespace crescent
