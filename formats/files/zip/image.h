// Files as the bytes of a zip archive, without a copy of them: stored, as Keras and NumPy write
// them. Equal files give equal bytes.
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
  std::vector<Bytes> pieces;  ///< one after the other; they must stay
};

class CRESCENT_FILES_API Image {
 public:
  explicit Image(const std::vector<File>& files);
  /// The bytes of the archive, one piece after the other.
  const std::vector<Bytes>& pieces() const { return pieces_; }

 private:
  void add(const File& file);
  void add_directory();
  void add_record(std::string bytes);

  std::deque<std::string> records_;  // that pieces_ are of
  std::vector<Bytes> pieces_;
  std::string directory_;
  uint64_t count_ = 0, end_ = 0;
};

}  // namespace crescent::zip
