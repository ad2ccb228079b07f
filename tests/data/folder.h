// A temporary folder that is removed at the end of the test.
#pragma once
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace crescent {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "crescent-data-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const std::string& name = "") const { return (path_ / name).string(); }
  /// The path of a file in the folder; creates the folders on the way.
  std::string add(const std::string& name) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    return path(name);
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(add(name), std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace crescent
