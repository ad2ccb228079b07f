// A zip archive in memory that refers to the bytes of its files instead of copying them. Members
// are stored uncompressed, as by Keras and NumPy. Equal files give equal archives.
#pragma once
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "files/export.h"

namespace crescent::zip {

using Bytes = std::span<const std::byte>;

struct File {
  std::string name;
  /// The content in the order of the file; the memory must outlive the image.
  std::vector<Bytes> pieces;
};

class CRESCENT_FILES_API Image {
 public:
  explicit Image(const std::vector<File>& files);
  /// The bytes of the archive as consecutive pieces.
  const std::vector<Bytes>& pieces() const { return pieces_; }

 private:
  void add(const File& file);
  void add_directory();
  void add_record(std::string bytes);

  std::deque<std::string> records_;  // headers and directory, to which pieces_ refers
  std::vector<Bytes> pieces_;
  std::string directory_;
  uint64_t file_count_ = 0;  ///< the number of files
  uint64_t size_ = 0;        ///< the size of the pieces in bytes
};

}  // namespace crescent::zip
