// What a file of Keras is to hold, as plain data: groups with attributes, and datasets, by paths as
// weight_source.h has them.
#pragma once
#include <string>
#include <vector>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent::keras {

struct Entry {
  std::string path;
  Dict attributes{};  ///< texts, lists of texts, integers
  Tensor value{};     ///< of a dataset; a group has none
};
using Entries = std::vector<Entry>;

}  // namespace crescent::keras
