// Files: checks of paths, opening files that users name, and atomic writes.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "crescent/base/export.h"

namespace crescent {

/// Returns the path as a C string for system calls; fails when `path` contains a zero byte, which
/// would end the path there.
CRESCENT_API const char* system_path(const std::string& path);

/// A file descriptor, which the destructor closes.
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

/// Opens a regular file for reading and returns its descriptor, which the caller closes. Anything
/// else (a FIFO, a socket, a device, a directory) fails with a message, because reading it could
/// block forever.
CRESCENT_API int open_regular_file(const std::string& path);
/// Reads all bytes of a regular file.
CRESCENT_API std::string read_file(const std::string& path);
/// Reads all bytes of a regular file and decompresses them when they are gzip.
CRESCENT_API std::string read_file_unpacked(const std::string& path);

/// Creates a folder, with the folders that it is in, unless it exists.
CRESCENT_API void create_folder(const std::string& path);

/// Replaces the file atomically by these pieces, one after the other, or raises an error and leaves
/// the old file untouched: temporary file in the same folder, fsync, rename, fsync of the folder (a
/// warning where that fails). When `path` is a symbolic link, its target is replaced or created.
/// Temporary files that dead processes left for this path are removed.
CRESCENT_API void replace_file(const std::string& path,
                               std::span<const std::span<const std::byte>> pieces);
CRESCENT_API void replace_file(const std::string& path, const std::string& text);

/// Growing a file beyond the limit of the process (RLIMIT_FSIZE) raises a signal that ends the
/// process. While an object of this class lives, its thread gets the error EFBIG instead.
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
