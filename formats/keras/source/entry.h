// The contents of a file of Keras as plain data: groups with attributes, and datasets, by paths as
// in weight_source.h.
#pragma once
#include <string>
#include <vector>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent::keras {

struct Entry {
  std::string path;
  Dict attributes{};  ///< texts, lists of texts, and integers by name
  Tensor value{};     ///< the value of a dataset; null for a group
};
using Entries = std::vector<Entry>;

/// A file beside the weights in an archive.
struct AssetFile {
  std::string path;  ///< below the folder assets/
  std::string content;
};
using AssetFiles = std::vector<AssetFile>;

}  // namespace crescent::keras
