// The beginning of a safetensors file: its length (8 bytes), and JSON that says of every array
// type, shape and place among the bytes that follow.
#pragma once
#include <string>
#include <vector>

#include "crescent/format.h"

namespace crescent::safetensors {

struct Place {
  std::string name;
  TensorSpec spec;
  size_t start;  ///< in the file
};

/// Arrays in the order of their places. Fails unless they fill the file from the header to its end,
/// each with as many bytes as its type and shape need. `read` gives bytes of the file.
std::vector<Place> read_header(const std::string& path, const Storage& file);

/// The beginning of a file with these arrays, one after the other.
std::string header_of(const NamedTensors& arrays);

}  // namespace crescent::safetensors
