// Every way to save a file through the public interface, including formats of plugins that are
// added later. The saved content has a generation number, which loading returns if the file is
// intact.
#pragma once
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "crescent/base/error.h"

namespace crescent::faults {

struct Saver {
  std::string name;    ///< "a model as .h5"
  std::string ending;  ///< the ending of file names, ".h5"
  std::function<void(const std::string& path, int generation)> save;
  /// Loads the file and returns its generation; fails if the file is damaged or mixes generations.
  std::function<int(const std::string& path)> load;
};

/// All ways to save; a file contains about `width` thousand numbers.
std::vector<Saver> savers(int width);

/// A temporary folder that is removed at the end of the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }
  /// The number of files in the folder.
  size_t count() const;

 private:
  std::filesystem::path path_;
};

/// The message of the error that `work` throws; "" if it throws none.
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
