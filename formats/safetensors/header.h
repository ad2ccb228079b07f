// The beginning of a safetensors file: its length (8 bytes), and JSON that says of every array
// type, shape and place among the bytes that follow.
//
// Of files of ours `__metadata__` has a seal for every array too, the CRC-32C of its name, type,
// shape and bytes, and of large ones those of their pieces: "crescent_seals": "{\"kernel\":
// \"1a2b3c4d\", ...}". So an array that is missing, was added or was changed is named. Other
// readers ignore it. Files of earlier versions have seals without names, in the order of the
// places: "crescent_crc32c": "1a2b3c4d 5e6f7081".
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/io/format.h"

namespace crescent::safetensors {

struct ArrayEntry {
  std::string name;
  TensorSpec spec;
  size_t start;  ///< in the file
  std::optional<uint32_t> seal{};
  std::vector<uint32_t> pieces{};  ///< CRC-32C of each, of arrays that are larger than one
  uint64_t bytes() const { return static_cast<uint64_t>(spec.shape.size()) * size_of(spec.dtype); }
};

/// Arrays in the order of their places. Fails unless they fill the file from the header to its end,
/// each with as many bytes as its type and shape need. `read` gives bytes of the file.
std::vector<ArrayEntry> read_header(const std::string& path, const Storage& file);

/// Fails when the array is not the one that was saved there.
void check_seal(const std::string& path, const Storage& file, const ArrayEntry& place);
/// The array, staying in the file, with its bytes compared as they are first read, or now when
/// there are no checksums of its pieces.
Tensor checked_array(const std::string& path, const std::shared_ptr<Storage>& file,
                     const ArrayEntry& place);

/// The beginning of a file with these arrays, one after the other.
std::string header_of(const NamedTensors& arrays);

}  // namespace crescent::safetensors
