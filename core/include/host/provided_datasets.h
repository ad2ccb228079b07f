// Datasets that plugins provide as classes of kind "dataset". Plugins do not see this header, so it
// is not part of their stamps and is not installed.
#pragma once
#include "crescent/data/stream.h"

namespace crescent {

/// Makes an object of this class of kind "dataset" and returns the dataset that its method `stream`
/// gives; fails if it gives none. Errors of the dataset name the class and its plugin.
CRESCENT_API StreamPtr provided_dataset(const std::string& class_name, const Dict& options);

}  // namespace crescent
