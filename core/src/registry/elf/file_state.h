// The identity of a file and of its last change.
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace crescent {

/// Two states are equal if they are states of the same file, even under different names, and the
/// file was not changed between them.
struct FileState {
  FileState() = default;
  explicit FileState(const struct stat& status)
      : device(status.st_dev),
        inode(status.st_ino),
        seconds(status.st_ctim.tv_sec),
        nanoseconds(status.st_ctim.tv_nsec) {}
  bool operator==(const FileState&) const = default;

  uint64_t device = 0, inode = 0;
  int64_t seconds = 0, nanoseconds = 0;  ///< time of the last change of the file
};

/// Returns the state of the file at a path; a default FileState if there is no file.
inline FileState state_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? FileState(status) : FileState();
}

}  // namespace crescent
