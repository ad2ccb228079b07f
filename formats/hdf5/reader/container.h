// Finds the HDF5 data in a file: the whole file, or a member of a Keras archive. A stored member is
// read where it is in the file; a deflated one is decompressed to memory.
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
  /// Finds the HDF5 data in `file`, which must outlive this object. Throws RefusedError for an
  /// archive without weights.
  explicit Container(std::span<const std::byte> file);

  std::span<const std::byte> image() const { return image_; }
  /// The offset of the HDF5 data in the file; nullopt if it was decompressed to memory.
  std::optional<uint64_t> start() const { return start_; }
  /// Throws RefusedError if the HDF5 data does not match its checksum in the archive.
  void check_image() const;
  /// Appends the text of the member `name` of the archive, such as config.json, to the answer.
  /// Throws MissingObject if there is no such member or the file is not an archive.
  void write_member(const std::string& name, Packer& answer) const;
  /// Appends the number of the members of the archive whose names begin with `prefix`, and their
  /// names, to the answer. Throws MissingObject if the file is not an archive.
  void write_names(const std::string& prefix, Packer& answer) const;

 private:
  std::optional<zip::Archive> archive_;
  std::vector<std::byte> unpacked_bytes_;
  std::span<const std::byte> image_;
  std::optional<uint64_t> start_ = 0;
};

}  // namespace crescent::hdf5
