// Where the HDF5 file lies in a file: everywhere, or, in one of Keras' archives, as a member that
// is looked at in place when it is stored and unpacked to memory when it is deflated.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../src/wire.h"
#include "files/zip/archive.h"

namespace crescent::hdf5 {

class Container {
 public:
  /// The bytes must stay. Refused when they are those of an archive without weights.
  explicit Container(std::span<const std::byte> file);

  std::span<const std::byte> image() const { return image_; }
  /// Where the image begins in the file; nothing when it was unpacked.
  std::optional<uint64_t> start() const { return start_; }
  /// Refused when an archive's checksum says that the image is damaged.
  void check_image() const;
  /// The text of another member; missing when there is none, as in every file that is no archive.
  void member(const std::string& name, Packer& answer) const;

 private:
  std::optional<zip::Archive> archive_;
  std::vector<std::byte> unpacked_;
  std::span<const std::byte> image_;
  std::optional<uint64_t> start_ = 0;
};

}  // namespace crescent::hdf5
