// A regular file that is open for reading at any offset.
#pragma once
#include <cstddef>
#include <string>
#include <utility>

namespace crescent {

class InputFile {
 public:
  /// Opens a file; fails unless it is a regular file that may be read.
  explicit InputFile(const std::string& path);
  /// Takes ownership of an open descriptor, which the destructor closes.
  InputFile(int descriptor, std::string path) : path_(std::move(path)), descriptor_(descriptor) {}
  InputFile(InputFile&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  size_t size() const;
  /// Reads `count` bytes; fails if the file ends before them or cannot be read.
  void read(size_t offset, size_t count, void* target) const;
  /// Fails if the file ends before the offset `end`.
  void check_reaches(size_t end) const;

 private:
  [[noreturn]] void fail_end(size_t offset) const;

  std::string path_;
  int descriptor_;
};

}  // namespace crescent
