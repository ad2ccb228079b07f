// The header of a safetensors file: its length (8 bytes), and JSON with the type, shape and offset
// of every array.
//
// In files of Crescent `__metadata__` has a checksum for every array, the CRC-32C of its name,
// type, shape and bytes, and those of the pieces of large ones: "crescent_seals": "{\"kernel\":
// \"1a2b3c4d\", ...}". So errors name an array that is missing, was added or was changed. Other
// readers ignore it. Files of earlier versions have checksums without names, in the order of
// offsets: "crescent_crc32c": "1a2b3c4d 5e6f7081".
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/io/format.h"

namespace crescent::safetensors {

struct ArrayEntry {
  std::string name;
  TensorSpec spec;
  size_t start;  ///< the offset of the array in the file
  std::optional<uint32_t> checksum{};
  /// the CRC-32C of each piece (files/pieces.h), for arrays that are larger than a piece
  std::vector<uint32_t> piece_checksums{};
  uint64_t bytes() const { return static_cast<uint64_t>(spec.shape.size()) * size_of(spec.dtype); }
};

/// Reads the entries in the order of offsets. Fails unless the arrays fill the file from the header
/// to its end, and each has the size that its type and shape need.
std::vector<ArrayEntry> read_header(const std::string& path, const Storage& file);

/// Fails if the array does not match its checksum.
void verify_checksum(const std::string& path, const Storage& file, const ArrayEntry& entry);
/// A tensor whose values stay in the file. If the file has checksums of the array's pieces
/// (files/pieces.h), each piece is compared when it is first read; otherwise the whole array is
/// compared with its checksum now.
Tensor checked_array(const std::string& path, const std::shared_ptr<Storage>& file,
                     const ArrayEntry& entry);

/// The header of a file with these arrays in order.
std::string header_of(const NamedTensors& arrays);

}  // namespace crescent::safetensors
