// Copies the libraries of this folder to a folder that other users cannot write to.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "crescent/base/error.h"
#include "crescent/registry/loader.h"

namespace crescent::plugin_tests {

namespace fs = std::filesystem;

/// A temporary folder that only this user may write to: folders of others are not trusted.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "crescent_plugins_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() {
    if (getpid() == maker_) fs::remove_all(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  pid_t maker_ = getpid();  ///< a child process that ends must not remove the folder of its parent
  fs::path path_;
};

inline const Folder& libraries() {
  static const Folder folder;
  static const bool copied = (fs::copy(TEST_PLUGINS, folder.path()), true);
  return (void)copied, folder;
}

inline std::string library(const std::string& name) { return libraries() / (name + ".so"); }

/// The error message when loading the library is refused; empty if the plugin was loaded.
inline std::string refusal(const std::string& path) {
  try {
    load_plugin(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace crescent::plugin_tests
