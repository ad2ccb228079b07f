// Every way to save a file, through the public interface: formats that are added later are among
// them. What is saved has a generation, and reading gives it back, or fails.
#pragma once
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "crescent/base/error.h"

namespace crescent::faults {

struct Saver {
  std::string name;    ///< "hold models as .h5"
  std::string ending;  ///< of files, ".h5"
  std::function<void(const std::string& path, int generation)> save;
  /// Fails unless the file is whole and all of one generation.
  std::function<int(const std::string& path)> load;
};

/// `width`: about how many thousand numbers there are in a file.
std::vector<Saver> savers(int width);

/// A folder of one test, removed afterwards.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }
  /// How many files there are.
  size_t count() const;

 private:
  std::filesystem::path path_;
};

/// What `work` fails with; "" when it does not.
template <class Work>
std::string failure(const Work& work) {
  try {
    work();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace crescent::faults
