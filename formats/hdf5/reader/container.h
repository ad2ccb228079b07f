// Finds the HDF5 file in a file: it is the whole file or a member of a Keras archive, which is read
// in place if it is stored and unpacked to memory if it is deflated.
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
  /// `file` must outlive the object. Throws RefusedError for an archive without weights.
  explicit Container(std::span<const std::byte> file);

  std::span<const std::byte> image() const { return image_; }
  /// The offset of the HDF5 file in the file; nullopt if it was unpacked.
  std::optional<uint64_t> start() const { return start_; }
  /// Throws RefusedError if the checksum in the archive differs.
  void check_image() const;
  /// Appends the text of another member to the answer; throws Missing without one, and for a file
  /// that is no archive.
  void member(const std::string& name, Packer& answer) const;

 private:
  std::optional<zip::Archive> archive_;
  std::vector<std::byte> unpacked_;
  std::span<const std::byte> image_;
  std::optional<uint64_t> start_ = 0;
};

}  // namespace crescent::hdf5
