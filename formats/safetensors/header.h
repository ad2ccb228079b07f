// The beginning of a safetensors file: its length (8 bytes), and JSON that says of every array
// type, shape and place among the bytes that follow.
//
// Of files of ours `__metadata__` has a seal for every array too, the CRC-32C of its name, type,
// shape and bytes, in the order of their places: "crescent_crc32c": "1a2b3c4d 5e6f7081". Other
// readers ignore it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/format.h"

namespace crescent::safetensors {

struct Place {
  std::string name;
  TensorSpec spec;
  size_t start;  ///< in the file
  std::optional<uint32_t> seal{};
};

/// Arrays in the order of their places. Fails unless they fill the file from the header to its end,
/// each with as many bytes as its type and shape need. `read` gives bytes of the file.
std::vector<Place> read_header(const std::string& path, const Storage& file);

/// Fails when the array is not the one that was saved there.
void check_seal(const std::string& path, const Storage& file, const Place& place);

/// The beginning of a file with these arrays, one after the other.
std::string header_of(const NamedTensors& arrays);

}  // namespace crescent::safetensors
