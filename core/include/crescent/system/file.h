// Files of the system: what a path may be, opening what users name, and writing that happens as
// a whole or not at all.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "crescent/base/export.h"

namespace crescent {

/// For calls of the system, which take a zero byte for the end of a path: fails when `path` holds
/// one.
CRESCENT_API const char* system_path(const std::string& path);

/// The number of an open file, closed when its owner goes.
class CRESCENT_API Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  operator int() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void close();

 private:
  int number_;
};

/// The descriptor of a regular file that is open for reading; the caller closes it. Anything else
/// (a FIFO, a socket, a device, a directory) fails with a message: it could be waited for without
/// end.
CRESCENT_API int open_regular_file(const std::string& path);
/// All bytes of a regular file.
CRESCENT_API std::string read_file(const std::string& path);
/// The same, unpacked when it is gzip.
CRESCENT_API std::string read_file_unpacked(const std::string& path);

/// Afterwards `path` holds exactly these pieces, one after the other, or an error is raised and
/// what was there is untouched: temporary file in the same folder, fsync, rename, fsync of the
/// folder (a warning where that fails). A symbolic link stays: what it leads to is replaced, or
/// made when it is not there. Temporary files that dead processes left for this name are removed.
CRESCENT_API void replace_file(const std::string& path,
                               std::span<const std::span<const std::byte>> pieces);
CRESCENT_API void replace_file(const std::string& path, const std::string& text);

/// Growing a file over the limit of the process (RLIMIT_FSIZE) raises a signal that ends it; while
/// this object lives it is an error like others (EFBIG). For the thread that makes it.
class CRESCENT_API NoFileSizeSignal {
 public:
  NoFileSizeSignal();
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  struct Masks;
  std::unique_ptr<Masks> masks_;
};

}  // namespace crescent
