// A temporary folder, and helpers that tests of files share.
#pragma once
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "crescent/base/error.h"
#include "crescent/system/file.h"
#include "file_reader.h"
#include "image.h"

namespace crescent::hdf5 {

class Scratch {
 public:
  Scratch() {
    std::string name =
        (std::filesystem::temp_directory_path() / "crescent-formats-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// The number of files in the folder.
  size_t count() const { return std::distance(std::filesystem::directory_iterator(folder_), {}); }

 private:
  std::filesystem::path folder_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline void write_tree(const std::string& path, const Tree& tree) {
  replace_file(path, FileImage(tree).pieces());
}

/// The message of the error that `work` throws; fails if it throws none.
template <class Work>
std::string failure(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("no error was raised");
  return "";
}

/// Reads a whole dataset of an HDF5 file.
inline Array read_one(const std::string& path, const std::string& dataset) {
  FileReader reader(path);
  return reader.read({dataset}, reader.describe({dataset})).front();
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

template <class T>
Node dataset(std::string path, ElementType type, std::vector<uint64_t> shape,
             const std::vector<T>& values) {
  auto owner = std::make_shared<std::vector<T>>(values);
  return {std::move(path), {}, Array{type, std::move(shape), owner->data(), owner}};
}

}  // namespace crescent::hdf5
