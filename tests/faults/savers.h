// Every way to save a file, found through the public interface, so that formats added later are
// included. Saved data contains a generation number, which reading returns, or fails.
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
  /// Returns the generation; fails unless the file is complete and of one generation.
  std::function<int(const std::string& path)> load;
};

/// `width`: approximate size of a file in thousands of numbers.
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

/// The message of the error that `work` raises; "" if it raises none.
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
